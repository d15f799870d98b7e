import { startSalesforce, type Salesforce, type SalesforceOptions } from './index.ts';

/** Parsed JSON as JSON.parse types it: tests assert its shape. */
export type Json = ReturnType<typeof JSON.parse>;

export type Answer = { status: number; headers: Headers; text: string; body: Json };
type Pair = { accessToken: string; refreshToken: string };

/** A running simulator with the few calls that tests make by hand. */
export type TestOrg = Salesforce & {
  token: string;
  call: (method: string, path: string, body?: unknown, headers?: Record<string, string>) => Promise<Answer>;
  /** A data call of v60.0 with the session of `token`. */
  api: (method: string, path: string, body?: unknown, headers?: Record<string, string>) => Promise<Answer>;
  sim: (path: string, body?: unknown) => Promise<Json>;
  form: (path: string, params: Record<string, string>) => Promise<Answer>;
  issue: (more?: Record<string, unknown>) => Promise<Pair>;
};

export async function startOrg(options: SalesforceOptions = {}): Promise<TestOrg> {
  const salesforce = await startSalesforce({ records: 30, ...options });
  const { url } = salesforce;
  const call: TestOrg['call'] = async (method, path, body, headers = {}) => {
    const payload = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
    const type = body === undefined || typeof body === 'string' ? {} : { 'content-type': 'application/json' };
    const init = payload === undefined ? {} : { body: payload };
    return answer(
      await fetch(url + path, { method, redirect: 'manual', headers: { ...type, ...headers }, ...init }),
    );
  };
  const sim: TestOrg['sim'] = async (path, body) =>
    (await call(body === undefined ? 'GET' : 'POST', `/__sim/${path}`, body)).body;
  const issue: TestOrg['issue'] = (more = {}) => sim('tokens', { action: 'issue', ...more });
  const { accessToken } = await issue({ clientId: 'test' });
  return {
    ...salesforce,
    token: accessToken,
    call,
    api: (method, path, body, headers) =>
      call(method, `/services/data/v60.0${path}`, body, {
        authorization: `Bearer ${accessToken}`,
        ...headers,
      }),
    sim,
    form: (path, params) =>
      call('POST', path, new URLSearchParams(params).toString(), {
        'content-type': 'application/x-www-form-urlencoded',
      }),
    issue,
  };
}

async function answer(response: Response): Promise<Answer> {
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.startsWith('application/json') ?? false;
  let body: unknown;
  if (isJson && text !== '') body = JSON.parse(text) as unknown;
  return { status: response.status, headers: response.headers, text, body };
}
