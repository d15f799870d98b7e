import { isObject, type Call, type JsonObject, type Reply } from '../../kit/index.ts';
import { apiError, notFound, type ApiError } from '../errors.ts';
import type { Org } from '../org.ts';
import { findObject, type SObject } from '../schema/object-types.ts';
import type { Transaction } from '../store/store.ts';
import type { WriteContext } from '../store/write.ts';

/** One call to the data API after authentication. Sub-requests of a composite share the transaction. */
export type ApiContext = {
  org: Org;
  call: Call;
  /** Versioned path prefix, such as `/services/data/v60.0`. */
  base: string;
  version: number;
  userId: string;
  tx: Transaction;
  /** Answers another call in the same transaction, for composites. */
  dispatch: (call: Call) => Reply;
};

export type Handler = (context: ApiContext) => Reply;

export function param(context: ApiContext, name: string): string {
  return context.call.params[name] ?? '';
}

/** The object a path names; 404 when the org has none. */
export function objectParam(context: ApiContext): SObject {
  const object = findObject(context.org.schema, param(context, 'object'));
  if (!object) throw notFound();
  return object;
}

/** The JSON body; other content types answer 415, broken JSON 400. */
function jsonBody(context: ApiContext): unknown {
  const { call } = context;
  const type = call.headers['content-type'];
  if (type !== undefined && !/^application\/json\b/i.test(type)) {
    const message = `Content-Type header specified in HTTP request is not supported: ${type}`;
    throw apiError(415, 'UNSUPPORTED_MEDIA_TYPE', message);
  }
  if (call.text.trim() === '') {
    throw apiError(400, 'JSON_PARSER_ERROR', 'No content to map to Object due to end of input');
  }
  try {
    return JSON.parse(call.text) as unknown;
  } catch (error) {
    const why = error instanceof Error ? error.message : 'Unexpected character';
    throw apiError(400, 'JSON_PARSER_ERROR', `${why} at [line:1, column:1]`);
  }
}

/** The JSON body when it must be an object. */
export function objectBody(context: ApiContext): JsonObject {
  const body = jsonBody(context);
  if (isObject(body)) return body;
  throw apiError(400, 'JSON_PARSER_ERROR', 'The HTTP entity body is required to be a JSON object');
}

/** What the write rules need of a call; headers that change them are read here. */
export function writeContext(context: ApiContext): WriteContext {
  const { org, call, tx, userId } = context;
  const rule = String(call.headers['sforce-duplicate-rule-header'] ?? '');
  return {
    store: org.store,
    tx,
    now: org.ground.clock.now(),
    userId,
    allowSave: /\ballowSave\s*=\s*true\b/i.test(rule),
    duplicateRules: org.settings.duplicateRules,
    locks: org.settings.locks,
  };
}

/** How an error answers over HTTP. */
export function errorReply(error: ApiError): Reply {
  return { status: error.status, body: error.entries };
}
