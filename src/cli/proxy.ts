import { METHODS } from 'node:http';
import { readProblem, SvcError, answerOf } from '../../ui/client/src/index.ts';
import { addressIn, connect, credentialsOf, type ConnectionOptions } from './connection.ts';
import { exitCodes, Failure } from './failure.ts';
import { sourceOf } from './json-option.ts';
import { say, tell } from './output.ts';
import { reasonOf } from './unreachable.ts';

interface ProxyOptions extends ConnectionOptions {
  integration?: string;
  group?: string;
  installation?: string;
  request?: string;
  header?: string[];
  data?: string;
  include?: boolean;
  proxyUrl?: string;
}

/** `svc proxy`: a request to the provider's own API, with the credentials of an installation. The exit code is 1 from status 400 on. */
export async function proxy(path: string, options: ProxyOptions): Promise<void> {
  const answer = await callProvider(path, options);
  const { status, headers } = answer;
  const bytes = Buffer.from(await answer.arrayBuffer());
  if (options.json) {
    say(options, { status, headers: Object.fromEntries(headers), body: bodyOf(bytes) }, '');
  } else {
    if (options.include)
      tell([`HTTP ${status}`, ...[...headers].map(([name, value]) => `${name}: ${value}`), ''].join('\n'));
    process.stdout.write(bytes);
    if (process.stdout.isTTY && bytes.at(-1) !== 0x0a) process.stdout.write('\n');
  }
  if (status < 400) return;
  if (!options.json) tell(`The provider answered ${status}.`);
  process.exitCode = exitCodes.refused;
}

/** The provider's answer. What svc itself answered is thrown. */
export async function callProvider(path: string, options: ProxyOptions): Promise<Response> {
  const target = urlOf(path, await proxyUrlOf(options));
  const body = options.data === undefined ? undefined : await sourceOf('--data', options.data);
  const headers = headersOf(options, body);
  const method = methodOf(options, body);
  const { api, project: projectIdOrName } = await connect(options);
  const params = { path: { projectIdOrName } };
  const { id } = await answerOf(api.GET('/v1/projects/{projectIdOrName}', { params }));
  headers.set('x-svc-project-id', id);
  headers.set('x-api-key', (await credentialsOf(options)).apiKey);
  const sent = body === undefined ? {} : { body };
  const answer = await fetch(target, { method, headers, redirect: 'manual', ...sent }).catch(
    (error: unknown) => {
      const { why, remedy = 'Check the address of the proxy: --proxy-url or SVC_PROXY_URL.' } =
        reasonOf(error);
      throw new Failure(`${target.origin} gave no answer: ${why}.`, remedy, exitCodes.unreachable);
    },
  );
  const problem = answer.headers.has('x-svc-problem')
    ? readProblem(await answer.text(), answer.status)
    : undefined;
  if (problem) throw new SvcError(problem);
  if (await isOfApi(answer))
    throw new Failure(
      `${target.origin} is the API of svc, not its proxy: the provider was not asked.`,
      'Give the address of the proxy: --proxy-url or SVC_PROXY_URL.',
    );
  return answer;
}

/** `fetch` and the proxy do not pass the two. */
const methods = METHODS.filter((method) => method !== 'CONNECT' && method !== 'TRACE');

function methodOf({ request }: ProxyOptions, body: string | undefined): string {
  const method = (request ?? (body === undefined ? 'GET' : 'POST')).toUpperCase();
  if (!methods.includes(method))
    throw new Failure(
      `${method === '' ? 'Nothing' : method} is no method to call a provider by.`,
      `Give one of ${methods.join(', ')}.`,
      exitCodes.usage,
    );
  if (body !== undefined && (method === 'GET' || method === 'HEAD'))
    throw new Failure(
      `--data is not sent with ${method}.`,
      'Put it into the query of the path, or give --request POST.',
      exitCodes.usage,
    );
  return method;
}

/** At the port of the API there is no such path, and no sign that the answer is not the provider's. */
async function isOfApi(answer: Response): Promise<boolean> {
  if (answer.headers.get('content-type')?.startsWith('application/problem+json') !== true) return false;
  return readProblem(await answer.clone().text(), answer.status)?.code === 'route-not-found';
}

/** As a value where it is JSON. */
function bodyOf(bytes: Buffer): unknown {
  const text = bytes.toString();
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

/** The address of the proxy, where it is told; the environment's may be another server's than that of a named profile. */
export function proxyUrlTold({
  proxyUrl,
  profile,
}: Pick<ProxyOptions, 'proxyUrl' | 'profile'>): string | undefined {
  if (proxyUrl !== undefined) return addressIn(proxyUrl, '--proxy-url');
  const told = profile === undefined ? process.env['SVC_PROXY_URL'] : undefined;
  return told ? addressIn(told, 'SVC_PROXY_URL') : undefined;
}

/** As it is told, otherwise the port after that of the server. */
async function proxyUrlOf(options: ProxyOptions): Promise<string> {
  const told = proxyUrlTold(options);
  if (told !== undefined) return told;
  const server = new URL((await credentialsOf(options)).url);
  if (server.port !== '') {
    server.port = String(Number(server.port) + 1);
    return server.origin;
  }
  throw new Failure(
    `Where the proxy of ${server.origin} is cannot be known.`,
    'Give --proxy-url, or set SVC_PROXY_URL.',
    exitCodes.usage,
  );
}

function urlOf(path: string, origin: string): URL {
  if (URL.canParse(path, origin)) {
    const target = new URL(path, origin);
    if (target.origin === new URL(origin).origin) return target;
  }
  throw new Failure(
    `${path} is no path of a provider.`,
    "Give it with its query, such as '/crm/v3/objects/contacts?limit=1'; the host is known.",
    exitCodes.usage,
  );
}

function headersOf(options: ProxyOptions, body: string | undefined): Headers {
  const headers = new Headers({ 'x-svc-proxy-version': '1' });
  if (body !== undefined) headers.set('content-type', 'application/json');
  for (const line of options.header ?? []) {
    const [, name, value] = /^([\w!#$%&'*+.^`|~-]+):\s*(.*)$/.exec(line) ?? [];
    if (name === undefined || value === undefined || !/^[\t\u0020-\u007e\u0080-\u00ff]*$/.test(value))
      throw new Failure(
        `${line} is no header.`,
        "Write it as 'Name: value', in letters of Latin 1.",
        exitCodes.usage,
      );
    headers.set(name, value);
  }
  const { installation, integration, group } = options;
  if (installation !== undefined) headers.set('x-svc-installation-id', installation);
  else if (integration !== undefined && group !== undefined) {
    headers.set('x-svc-integration-name', latin1(integration));
    headers.set('x-svc-group-ref', latin1(group));
  } else
    throw new Failure(
      'Whose account is meant is not said.',
      'Give --integration and --group, or --installation.',
      exitCodes.usage,
    );
  return headers;
}

/** UTF-8 in a header, which `fetch` takes as single bytes only. */
function latin1(text: string): string {
  return Buffer.from(text).toString('latin1');
}
