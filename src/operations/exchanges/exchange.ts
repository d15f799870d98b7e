import { timeOf } from '../../kit/ids.ts';
import { storable } from '../../kit/storable.ts';
import type { ProviderExchange } from '../../providers/index.ts';
import type { OperationExchange } from '../schema.ts';

/** The operation that a provider was asked for, and the attempt. */
export interface ExchangeOf {
  projectId: string;
  operationId: string;
  groupRef: string | undefined;
  attempt: number;
  /** Of good answers the body is kept, too; the pages of a read would be a second copy of all that is read. */
  withGoodAnswers: boolean;
}

export type Exchange = ExchangeOf & ProviderExchange;

/** As it is kept. */
export interface ExchangeRow {
  project_id: string;
  id: string;
  operation_id: string;
  group_ref: string | null;
  attempt: number;
  method: string;
  path: string;
  request_headers: string | null;
  request_body: string | null;
  request_bytes: number;
  status: number | null;
  fault: string | null;
  answer_headers: string | null;
  answer_body: string | null;
  answer_bytes: number;
  total_ms: number;
}

/** Of a body, in characters. */
export const mostBodyCharacters = 16_384;
const mostPathCharacters = 2_000;

/** What of an exchange is kept: secrets removed, long bodies cut. Pure. */
export function rowOf({ request, result, totalMs, ...of }: Exchange): ExchangeRow {
  const body = request.body === undefined ? null : JSON.stringify(request.body);
  const answer = 'answer' in result ? result.answer : undefined;
  return {
    project_id: of.projectId,
    id: of.id,
    operation_id: of.operationId,
    group_ref: of.groupRef ?? null,
    attempt: of.attempt,
    method: request.method,
    path: kept(request.path, mostPathCharacters),
    request_headers: request.headers ? storable(JSON.stringify(request.headers)) : null,
    request_body: body === null ? null : kept(body, mostBodyCharacters),
    request_bytes: body === null ? 0 : Buffer.byteLength(body),
    status: answer?.status ?? null,
    fault: 'fault' in result ? kept(`${result.fault.kind}: ${result.fault.message}`, 500) : null,
    answer_headers: answer ? storable(JSON.stringify(tellingHeaders(answer.headers))) : null,
    answer_body:
      answer && (of.withGoodAnswers || answer.status >= 300) ? kept(answer.body, mostBodyCharacters) : null,
    answer_bytes: answer ? Buffer.byteLength(answer.body) : 0,
    total_ms: Math.round(totalMs),
  };
}

export function presentExchange(row: ExchangeRow): OperationExchange {
  const { status, fault } = row;
  return {
    id: row.id,
    time: new Date(timeOf(row.id)).toISOString(),
    attempt: row.attempt,
    request: {
      method: row.method,
      path: row.path,
      ...(row.request_headers === null ? {} : { headers: headersIn(row.request_headers) }),
      ...(row.request_body === null ? {} : { body: row.request_body }),
      bytes: row.request_bytes,
    },
    ...(status === null
      ? {}
      : {
          answer: {
            status,
            headers: headersIn(row.answer_headers ?? '{}'),
            ...(row.answer_body ? { body: row.answer_body } : {}),
            bytes: row.answer_bytes,
          },
        }),
    ...(fault === null ? {} : { fault }),
    totalMs: row.total_ms,
  };
}

function headersIn(json: string): NonNullable<OperationExchange['request']['headers']> {
  return JSON.parse(json) as NonNullable<OperationExchange['request']['headers']>;
}

/** Headers of an answer that explain it: its form, its number at the provider, and what is left of a limit. */
const telling =
  /^(content-type|date|retry-after|location|sforce-limit-info|warning|.*request-?id|.*correlation-id|.*trace-?id|.*rate-?limit.*)$/;

function tellingHeaders(
  headers: Record<string, string | string[] | undefined>,
): Record<string, string | string[]> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value !== undefined && telling.test(name) ? [[name, value]] : [],
    ),
  );
}

/** What an answer may echo of a credential, wherever a provider puts it. */
const secret =
  /("(?:access|refresh|id)_?token"|"client_?secret"|"session_?id"|"password"|"api_?key")(\s*:\s*)"(?:[^"\\]|\\.)*"|\b(Bearer|Basic) [\w.~+/=-]+/gi;

function kept(text: string, most: number): string {
  const beginning = text.length > most ? text.slice(0, most) : text;
  return storable(
    beginning.replace(secret, (_all, name?: string, colon?: string, scheme?: string) =>
      name === undefined ? `${scheme} [removed]` : `${name}${colon}"[removed]"`,
    ),
  );
}
