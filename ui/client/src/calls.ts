import createClient, { type Client } from 'openapi-fetch';
import type { paths } from './generated/api.ts';
import { readProblem, SvcError, unexpected } from './problem.ts';
import {
  createTransport,
  isReplayed,
  type Answer,
  type Call,
  type Received,
  type TransportOptions,
} from './transport.ts';

export interface ConnectOptions extends TransportOptions {
  /** Where svc is, such as `https://svc.example.com`. */
  baseUrl: string;
  /** The id or the name of the project. */
  project: string;
  /** An API key. It belongs into a back end: a page takes `token`. */
  apiKey?: string;
  /** A front-end token, or what gets one; asked for each call. */
  token?: string | (() => string | Promise<string>);
}

/** What a call may be given. */
export interface CallOptions {
  /** Ends the call, and waiting for its next attempt. What was sent may be done all the same. */
  signal?: AbortSignal;
}

/** What the parts of the client call with. */
export interface Calls {
  api: Client<paths>;
  /** The parameter that every path of a project has. */
  projectIdOrName: string;
  /** A POST without what openapi-fetch and `Request` cost, which is more than to send it: writes are many. */
  post(path: string, call: Posted): Promise<Answered<unknown>>;
}

interface Posted {
  /** Values of the path, by the names in it. */
  params: Readonly<Record<string, string>>;
  headers: Record<string, string>;
  body: object;
  signal?: AbortSignal | undefined;
}

export function createCalls(options: ConnectOptions): Calls {
  const { baseUrl, project, apiKey, token } = options;
  if (!/^https?:\/\//.test(baseUrl) || !URL.canParse(baseUrl))
    throw misused(`\`baseUrl\` is not an http or https URL: ${JSON.stringify(baseUrl)}`);
  if ((apiKey === undefined) === (token === undefined)) throw misused('give either `apiKey` or `token`');
  const transport = createTransport(options);
  const send = async (url: string, call: Call): Promise<Answer> => {
    if (token !== undefined)
      call.headers.set('authorization', `Bearer ${typeof token === 'string' ? token : await token()}`);
    return transport(url, call);
  };
  // The key goes nowhere but where it was meant to.
  const redirect = 'manual';
  const keys: Record<string, string> = apiKey === undefined ? {} : { 'x-api-key': apiKey };
  const api = createClient<paths>({
    baseUrl,
    redirect,
    headers: keys,
    Request: requestOfItsOwnSignal(),
    fetch: async (request) => responseOf(await send(request.url, await callOf(request))),
  });
  api.use({ onRequest: ({ schemaPath, params }) => refuseUnnamed(schemaPath, params.path) });
  const post = async (
    path: string,
    { params, headers, body, signal }: Posted,
  ): Promise<Answered<unknown>> => {
    refuseUnnamed(path, params);
    const url = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ''));
    const { response, text } = await send(baseUrl.replace(/\/$/, '') + url, {
      method: 'POST',
      headers: new Headers({ 'content-type': 'application/json', ...keys, ...headers }),
      body: JSON.stringify(body),
      redirect,
      signal,
    });
    const said: unknown = text ? JSON.parse(text) : undefined;
    return response.ok ? { data: said, response } : { error: said, response };
  };
  return { api, projectIdOrName: project, post };
}

/**
 * A request listens to its signal until it is collected, and the walk through the listeners of one that many calls share grows with
 * them: each request has a signal of its own, which follows that of the caller.
 */
function requestOfItsOwnSignal(): typeof Request {
  return class extends Request {
    constructor(input: string | URL | Request, init?: RequestInit) {
      super(input, init?.signal ? { ...init, signal: AbortSignal.any([init.signal]) } : init);
    }
  };
}

/** The body is read once: to copy a request with its body costs more than to send it. */
async function callOf(request: Request): Promise<Call> {
  const { method, headers, redirect, signal } = request;
  const body = request.body === null ? {} : { body: await request.arrayBuffer() };
  return { method, headers, redirect, signal, ...body };
}

/** For who reads an answer himself. */
function responseOf({ response, text }: Answer): Response {
  const { status, headers } = response;
  return new Response(text === undefined ? response.body : text || null, { status, headers });
}

/** A caller without types may leave something away that the path needs; dots, however they are encoded, would name another path. */
function refuseUnnamed(schemaPath: string, given: Record<string, unknown> = {}): void {
  const names = [...schemaPath.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  const missing = names.filter((name) =>
    [undefined, '', '.', '..'].includes(given[name] as string | undefined),
  );
  if (missing.length > 0) throw new TypeError(`${schemaPath} needs ${missing.join(', ')}`);
}

interface Answered<Data> {
  data?: Data;
  error?: unknown;
  response: Received;
}

/** What svc answered; everything else is thrown as a `SvcError`. `isAnswer` says what is none although its status says so. */
export async function answerOf<Data>(
  call: Promise<Answered<Data>>,
  isAnswer: (body: unknown) => body is Data = (_body): _body is Data => false,
): Promise<Data> {
  const { data, error, response } = await call.catch(rethrown);
  if (response.ok) return data as Data;
  if (isAnswer(error)) return error;
  const problem = readProblem(JSON.stringify(error), response.status);
  const replayed = isReplayed(response);
  const requestId = response.headers.get('x-request-id');
  throw problem
    ? new SvcError({ ...(requestId === null ? {} : { requestId }), ...problem, replayed })
    : unexpected(response.url, response.status, null);
}

/** A success whose body is not what it says: a page of something else that answers at the address. */
function rethrown(error: unknown): never {
  if (!(error instanceof SyntaxError)) throw error;
  throw new SvcError({
    code: 'unexpected-answer',
    status: 200,
    detail: 'The answer is not JSON, which svc does not do.',
    remedy: 'Check `baseUrl`, and what stands between.',
    cause: error,
  });
}

/** Of the two forms that some lists have: what was asked for by the page is a page. */
export function onlyPage<Page extends object>(answer: readonly unknown[] | Page): Page {
  return answer as Page;
}

function misused(detail: string): TypeError {
  return new TypeError(`new Svc(…): ${detail}`);
}
