import { isObject, json, type Call, type JsonObject, type Reply } from '../../kit/index.ts';
import { apiError } from '../errors.ts';
import { rollbackTo } from '../store/store.ts';
import { asText } from '../text.ts';
import { objectBody, type ApiContext } from './context.ts';

const maxSubrequests = 25;

type Part = { status: number; headers: JsonObject; body: unknown };

/** POST /composite: up to 25 calls in order, later ones may use `@{ref.field}` of earlier ones. */
export function composite(context: ApiContext): Reply {
  const body = objectBody(context);
  const requests = readRequests(body['compositeRequest'], 'compositeRequest');
  const mark = { undo: context.tx.undo.length, changes: context.tx.changes.length };
  const done = new Map<string, Part>();
  const parts = requests.map((request) => {
    const part = runPart(context, request, done);
    done.set(asText(request['referenceId']), part);
    return part;
  });
  const failed = body['allOrNone'] === true && parts.some((part) => part.status >= 400);
  if (failed) rollbackTo(context.tx, mark);
  const compositeResponse = parts.map((part, i) => {
    const shown = failed && part.status < 400 ? halted(rollbackMessage) : part;
    return {
      body: shown.body ?? null,
      httpHeaders: shown.headers,
      httpStatusCode: shown.status,
      referenceId: asText(requests[i]?.['referenceId']),
    };
  });
  return json(200, { compositeResponse });
}

const rollbackMessage =
  'The transaction was rolled back since another operation in the same transaction failed.';

function halted(message: string): Part {
  return { status: 400, headers: {}, body: [{ errorCode: 'PROCESSING_HALTED', message }] };
}

function readRequests(list: unknown, name: string): JsonObject[] {
  if (!Array.isArray(list)) throw apiError(400, 'JSON_PARSER_ERROR', `${name} must be a list`);
  if (list.length > maxSubrequests) {
    throw apiError(400, 'LIMIT_EXCEEDED', `${name} has ${list.length} entries, more than ${maxSubrequests}`);
  }
  return list.map((one: unknown) => (isObject(one) ? one : {}));
}

function runPart(context: ApiContext, request: JsonObject, done: Map<string, Part>): Part {
  const unresolved: string[] = [];
  const fill = (text: string): string =>
    text.replaceAll(/@\{([^}]+)\}/g, (all, reference: string) => {
      const value = lookUp(done, reference);
      if (value === undefined) unresolved.push(reference);
      return value ?? all;
    });
  const target = fill(asText(request['url']));
  const text = request['body'] === undefined ? '' : fill(JSON.stringify(request['body']));
  const [missing] = unresolved;
  if (missing) {
    const name = missing.split('.')[0] ?? missing;
    return halted(`Invalid reference specified. No value for ${missing} found in ${name}`);
  }
  return send(context, asText(request['method']), target, text, request['httpHeaders']);
}

/** `ref.field`, `ref.records[0].Id` or `ref[0].id` in the body of an earlier, successful part. */
function lookUp(done: Map<string, Part>, reference: string): string | undefined {
  const [name = '', ...steps] = reference.split(/[.[\]]+/).filter((step) => step !== '');
  const part = done.get(name);
  let at: unknown = part && part.status < 400 ? part.body : undefined;
  for (const step of steps) {
    if (Array.isArray(at)) at = at[Number(step)];
    else at = isObject(at) ? at[step] : undefined;
  }
  return at === undefined || at === null ? undefined : asText(at);
}

function send(context: ApiContext, method: string, target: string, text: string, extra: unknown): Part {
  const mark = target.indexOf('?');
  const headers: Call['headers'] = text === '' ? {} : { 'content-type': 'application/json' };
  if (isObject(extra))
    for (const [name, value] of Object.entries(extra)) headers[name.toLowerCase()] = asText(value);
  const reply = context.dispatch({
    method: method.toUpperCase(),
    target,
    path: mark < 0 ? target : target.slice(0, mark),
    query: new URLSearchParams(mark < 0 ? '' : target.slice(mark + 1)),
    headers,
    text,
    params: {},
  });
  const location = reply.headers?.['location'];
  return { status: reply.status, headers: location ? { Location: location } : {}, body: reply.body };
}

/** POST /composite/batch: up to 25 independent calls. */
export function batch(context: ApiContext): Reply {
  const body = objectBody(context);
  const requests = readRequests(body['batchRequests'], 'batchRequests');
  let hasErrors = false;
  const results = requests.map((request) => {
    if (hasErrors && body['haltOnError'] === true) {
      const message = 'Batch processing halted per request.';
      return { statusCode: 412, result: [{ errorCode: 'BATCH_PROCESSING_HALTED', message }] };
    }
    const url = asText(request['url']);
    const target = url.startsWith('/services/') ? url : `/services/data/${url.replace(/^\//, '')}`;
    const rich = request['richInput'];
    const part = send(
      context,
      asText(request['method']),
      target,
      rich === undefined ? '' : JSON.stringify(rich),
      null,
    );
    if (part.status >= 400) hasErrors = true;
    return { statusCode: part.status, result: part.body ?? null };
  });
  return json(200, { hasErrors, results });
}
