import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';

/** A request as handlers see it. `path` is the raw pathname; `params` are decoded. */
export type Call = {
  method: string;
  /** The raw request target, query included. */
  target: string;
  path: string;
  query: URLSearchParams;
  headers: IncomingHttpHeaders;
  text: string;
  params: Record<string, string>;
};

/** An answer: a string body goes out as it is, undefined as nothing, all else as JSON. */
export type Reply = { status: number; headers?: Record<string, string>; body?: unknown };

export type JsonObject = Record<string, unknown>;

export function json(status: number, body: unknown, headers?: Record<string, string>): Reply {
  return headers ? { status, body, headers } : { status, body };
}

export function empty(status: number, headers?: Record<string, string>): Reply {
  return headers ? { status, headers } : { status };
}

export function html(status: number, body: string): Reply {
  return { status, body, headers: { 'content-type': 'text/html;charset=utf-8' } };
}

export function redirect(location: string): Reply {
  return { status: 302, headers: { location } };
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Parses a JSON body; undefined when it is not JSON. An empty body is an empty object. */
export function parseJson(text: string): unknown {
  if (text.trim() === '') return {};
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** Form parameters of an urlencoded body, joined with those of the query (the body wins). */
export function formParams(call: Pick<Call, 'text' | 'query'>): URLSearchParams {
  const params = new URLSearchParams(call.query);
  for (const [name, value] of new URLSearchParams(call.text)) params.set(name, value);
  return params;
}

/** Escapes text for HTML content and attribute values. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);
}

/** Reads a whole request body as UTF-8 text. */
export function readText(message: IncomingMessage): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    message.on('data', (chunk: Buffer) => chunks.push(chunk));
    message.on('end', () => resolve(chunks.length === 0 ? '' : Buffer.concat(chunks).toString('utf8')));
    message.on('error', reject);
    message.on('aborted', () => reject(new Error('the client went away')));
  });
}

/** Splits a request target into a call without route parameters. */
export function toCall(message: IncomingMessage, text: string): Call {
  const target = message.url ?? '/';
  const mark = target.indexOf('?');
  return {
    method: message.method ?? 'GET',
    target,
    path: mark === -1 ? target : target.slice(0, mark),
    query: new URLSearchParams(mark === -1 ? '' : target.slice(mark + 1)),
    headers: message.headers,
    text,
    params: {},
  };
}
