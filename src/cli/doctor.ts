import { answerOf, readProblem, Svc, SvcError } from '../../ui/client/src/index.ts';
import { describeFindings, faulty, good, warning, type Finding } from '../kit/finding.ts';
import { addressOf, credentialsOf, type ConnectionOptions } from './connection.ts';
import { exitCodes, Failure } from './failure.ts';
import { say } from './output.ts';
import { idBegins } from './keys.ts';
import { reasonOf } from './unreachable.ts';

/** Of the API; another first number is another API. */
const apiVersion = '1';
/** A receiver refuses messages whose time is five minutes off. */
const mostSkewMs = 60_000;
const patienceMs = 5_000;

/** `svc doctor`: whether the server is there and works, and what the key may do. */
export async function doctor(options: ConnectionOptions): Promise<void> {
  const { url, project } = await addressOf(options);
  const server = await examineServer(url);
  const isThere = server.every(({ subject, state }) => subject !== 'server' || state !== 'fault');
  const findings = [...server, ...(isThere ? await examineKey(options, project) : [])];
  say(options, findings, describeFindings(findings));
  const faults = findings.filter(({ state }) => state === 'fault');
  if (faults.length > 0) process.exitCode = exitCodeOf(new Set(faults.map(({ subject }) => subject)));
}

function exitCodeOf(subjects: ReadonlySet<string>): number {
  if (subjects.has('server')) return exitCodes.unreachable;
  return subjects.has('key') ? exitCodes.credentials : exitCodes.refused;
}

async function examineServer(url: string): Promise<Finding[]> {
  const about = await ask(`${url}/openapi.json`);
  if ('fault' in about)
    return [
      faulty(
        'server',
        about.isSilent ? `${url} ${about.fault}` : `${url} cannot be reached: ${about.fault}`,
        about.isSilent
          ? 'Something listens there and is too busy, or stuck: ask again, or let whoever runs it look at its log.'
          : (about.remedy ??
              'Start svc (npx svc dev), or name the server by --url, SVC_API_URL or svc login.'),
      ),
    ];
  const text = await about.answer.text().catch(() => '');
  const version = versionIn(text);
  if (version === undefined) return [judgeOther(url, about.answer, text)];
  return [
    judgeVersion(url, version),
    await examineReadiness(url),
    ...judgeClock(about.answer.headers.get('date')),
  ];
}

function versionIn(text: string): string | undefined {
  try {
    return (JSON.parse(text) as { info?: { version?: string } } | null)?.info?.version;
  } catch {
    return undefined;
  }
}

/** What does not describe the API may be svc: where its database is held, and at the port of the proxy. */
function judgeOther(url: string, { status, headers }: Response, text: string): Finding {
  const remedy = 'Name the address of its management surface, such as http://127.0.0.1:4000.';
  const told = readProblem(text, status);
  if (told?.type !== `urn:svc:problem:${told?.code}`)
    return faulty('server', `what answers at ${url} is not svc`, remedy);
  if (headers.has('x-svc-problem') && told.code !== 'restored')
    return faulty('server', `what answers at ${url} is the proxy of svc`, remedy);
  return faulty('server', `${url} answers: ${told.detail}`, told.remedy ?? remedy);
}

function judgeVersion(url: string, version: string): Finding {
  if (version.split('.')[0] === apiVersion)
    return good('server', `${url} speaks version ${version} of the API`);
  const remedy = `Take the command line of the server's release, or upgrade the server.`;
  return faulty(
    'version',
    `${url} speaks version ${version} of the API, and this command version ${apiVersion}`,
    remedy,
  );
}

async function examineReadiness(url: string): Promise<Finding> {
  const ready = await ask(`${url}/readyz`);
  if ('answer' in ready && ready.answer.ok) return good('ready', 'it takes work');
  const told =
    'answer' in ready
      ? (Object(await ready.answer.json().catch(() => undefined)) as { detail?: string })
      : {};
  const why = told.detail ?? ('fault' in ready ? ready.fault : `it answers ${ready.answer.status}`);
  return faulty(
    'ready',
    `it takes no work now: ${why}`,
    'Whoever runs it finds the cause by svc server doctor.',
  );
}

function judgeClock(date: string | null): Finding[] {
  const skewMs = Date.now() - Date.parse(date ?? '');
  if (!(Math.abs(skewMs) > mostSkewMs)) return [];
  const says = `this clock is ${Math.round(Math.abs(skewMs) / 1000)} s ${skewMs > 0 ? 'ahead of' : 'behind'} that of the server`;
  return [warning('clock', says, 'Set it: signatures of messages are refused when their time is far off.')];
}

async function examineKey(options: ConnectionOptions, project: string): Promise<Finding[]> {
  try {
    const { url, apiKey } = await credentialsOf(options);
    const { api } = new Svc({ baseUrl: url, project, apiKey, retries: 0 });
    const path = { projectIdOrName: project };
    const { name } = await answerOf(api.GET('/v1/projects/{projectIdOrName}', { params: { path } }));
    return [good('key', `it opens the project ${name}`), judgeScopes(await scopesOf(api, project, apiKey))];
  } catch (error) {
    return [judgeRefusal(error, project)];
  }
}

/** What the key may do, or why nobody who holds it is told. */
async function scopesOf(
  api: Svc['api'],
  projectIdOrName: string,
  apiKey: string,
): Promise<readonly string[] | SvcError> {
  const path = '/v1/projects/{projectIdOrName}/api-keys';
  const id = idBegins(apiKey);
  const keys = await answerOf(api.GET(path, { params: { path: { projectIdOrName } } })).catch(
    (error: unknown) => {
      if (error instanceof SvcError && error.code === 'forbidden') return error;
      throw error;
    },
  );
  if (keys instanceof SvcError) return keys;
  const all = Array.isArray(keys) ? keys : keys.results;
  return all.find((one) => one.id.startsWith(id))?.scopes ?? [];
}

function judgeScopes(scopes: readonly string[] | SvcError): Finding {
  if (!(scopes instanceof SvcError) && scopes.includes('full'))
    return good('scope', `${scopes.join(', ')}: it may do everything in the project`);
  const why = scopes instanceof SvcError ? scopes.detail : `it has ${scopes.join(', ')}.`;
  return warning('scope', `it may not do everything: ${why}`, 'Take a key of scope full for the rest.');
}

function judgeRefusal(error: unknown, project: string): Finding {
  if (error instanceof Failure) return faulty('key', error.message, error.remedy);
  if (!(error instanceof SvcError)) throw error;
  if (error.code === 'forbidden')
    return warning(
      'scope',
      error.message,
      'Take a key of scope full to look at the project; for its own calls this one may do.',
    );
  if (error.status === 404)
    return faulty(
      'project',
      `the key opens no project ${project}`,
      'Name its project by --project or SVC_PROJECT.',
    );
  // It says nothing of the key.
  if (error.status === 0 || error.status >= 500)
    return faulty('server', `whether the key is good is not known: ${error.message}`, 'Ask again.');
  return faulty(
    'key',
    error.message,
    'Take a key that is valid: svc keys list, or svc operator-keys create --full on the server.',
  );
}

/** `isSilent`: it was connected to, and no answer came in time. */
async function ask(
  url: string,
): Promise<{ answer: Response } | { fault: string; remedy?: string; isSilent: boolean }> {
  try {
    return { answer: await fetch(url, { signal: AbortSignal.timeout(patienceMs), redirect: 'error' }) };
  } catch (error) {
    if ((error as Error).name === 'TimeoutError')
      return { fault: `did not answer in ${patienceMs / 1000} s`, isSilent: true };
    const { why, ...others } = reasonOf(error);
    return { fault: why, ...others, isSilent: false };
  }
}
