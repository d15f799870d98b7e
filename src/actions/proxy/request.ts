import type { IncomingMessage } from 'node:http';
import { headFault } from '../../kit/http/request-head.ts';
import { isId, storedId } from '../../kit/ids.ts';
import { problem, refuse, type Issue, type Problem } from '../../kit/problem.ts';
import { isChunkedOnly, keyOf } from './headers.ts';

/** The installation that a proxied call is for (§4.6). The id wins when all three headers are given. */
export type ProxySelector = { installationId: string } | { integration: string; groupRef: string };

export interface ProxyCall {
  apiKey: string;
  projectId: string;
  selector: ProxySelector;
  /** True: while the provider's limit is reached, the call is refused here (§7.5). */
  throttle: boolean;
}

const controlHeaders = new Set([
  'x-api-key',
  'x-svc-proxy-version',
  'x-svc-project-id',
  'x-svc-installation-id',
  'x-svc-integration-name',
  'x-svc-group-ref',
  'x-svc-rate-limiter-mode',
  // Not one of ours, but it decides where the message ends.
  'transfer-encoding',
]);

/**
 * Reads our headers and the target of a call. Pure; `rawHeaders` as node:http gives them, so that a repeated one is seen.
 */
export function readProxyCall(
  target: string,
  { rawHeaders, httpVersion }: Pick<IncomingMessage, 'rawHeaders' | 'httpVersion'>,
): { call: ProxyCall } | { refusal: Problem } {
  const { values, repeated } = controlValues(rawHeaders);
  const apiKey = values.get('x-api-key');
  const malformed = repeated.map((name) => issue(name, 'must be sent once'));
  const fault = headFault({ rawHeaders, httpVersion });
  if (fault) malformed.push(issue(fault.name, fault.detail));
  if (malformed.length > 0) return { refusal: refuse(malformed, 'proxy-request-invalid') };
  if (!apiKey)
    return { refusal: problem('unauthenticated', { detail: 'The proxy needs the header x-api-key.' }) };
  const issues = [...readTexts(values), ...controlIssues(target, values)];
  const selector = selectorOf(values);
  if (issues.length > 0 || !selector) return { refusal: refuse(issues, 'proxy-request-invalid') };
  const throttle = values.has('x-svc-rate-limiter-mode');
  return { call: { apiKey, projectId: storedId(values.get('x-svc-project-id') ?? ''), selector, throttle } };
}

/** Of the API of svc, and perhaps of a provider, too. */
const apiPath = /^\/(?:v1|write|read|search)\//;

/** A call without any header of the proxy, to a path such as the API has: the other port may have been meant. */
export function misdirected(
  refusal: Problem,
  target: string,
  { rawHeaders, apiUrl }: { rawHeaders: readonly string[]; apiUrl: string },
): Problem {
  const isOurs = rawHeaders.some((name, at) => at % 2 === 0 && keyOf(name).startsWith('x-svc-'));
  if (isOurs || !apiPath.test(target)) return refusal;
  const { detail = refusal.message, remedy = refusal.kind.remedy, ...others } = refusal.details;
  return problem(refusal.code, {
    ...others,
    detail,
    remedy: `This is the port of the proxy; the API answers at ${apiUrl}. If a call by the proxy was meant: ${remedy}`,
  });
}

function controlValues(rawHeaders: readonly string[]): { values: Map<string, string>; repeated: string[] } {
  const values = new Map<string, string>();
  const repeated: string[] = [];
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = keyOf(rawHeaders[i] ?? '');
    if (!controlHeaders.has(name)) continue;
    if (values.has(name)) repeated.push(name);
    values.set(name, rawHeaders[i + 1] ?? '');
  }
  return { values, repeated };
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Names outside ASCII come as UTF-8, which node shows byte by byte. */
function readTexts(values: Map<string, string>): Issue[] {
  return ['x-svc-integration-name', 'x-svc-group-ref']
    .filter((name) => !readText(values, name))
    .map((name) => issue(name, 'must be UTF-8'));
}

function readText(values: Map<string, string>, name: string): boolean {
  const value = values.get(name);
  if (value === undefined || !/[\x80-\xff]/.test(value)) return true;
  try {
    values.set(name, utf8.decode(Buffer.from(value, 'latin1')));
    return true;
  } catch {
    return false;
  }
}

const toldBy = 'GET /v1/projects tells it';

function controlIssues(target: string, values: ReadonlyMap<string, string>): Issue[] {
  const issues: Issue[] = [];
  // Only origin-form is appended to the provider's origin; absolute-form and `*` could name another host.
  if (!target.startsWith('/')) {
    issues.push({ in: 'path', name: 'target', detail: 'must be a path that starts with /' });
  }
  // A server cuts it off, with what the proxy adds to the query.
  if (target.includes('#')) issues.push({ in: 'path', name: 'target', detail: 'must have no fragment' });
  const coding = values.get('transfer-encoding');
  if (coding !== undefined && !isChunkedOnly(coding))
    issues.push(issue('transfer-encoding', 'must be chunked; another coding cannot be passed on'));
  const version = values.get('x-svc-proxy-version');
  if (version !== '1')
    issues.push(issue('x-svc-proxy-version', version === undefined ? 'is required; send 1' : 'must be 1'));
  const projectId = values.get('x-svc-project-id');
  if (!projectId) issues.push(issue('x-svc-project-id', `is required: the id of the project; ${toldBy}`));
  else if (!isId(projectId))
    issues.push(issue('x-svc-project-id', `must be the id of the project, not its name; ${toldBy}`));
  const installationId = values.get('x-svc-installation-id');
  if (installationId && !isId(installationId))
    issues.push(issue('x-svc-installation-id', 'must be the id of an installation'));
  const mode = values.get('x-svc-rate-limiter-mode');
  if (mode !== undefined && mode !== 'throttle')
    issues.push(issue('x-svc-rate-limiter-mode', 'must be throttle, or not be sent'));
  if (!selectorOf(values)) {
    const missing = values.get('x-svc-integration-name') ? 'x-svc-group-ref' : 'x-svc-integration-name';
    issues.push(issue(missing, 'is required, unless x-svc-installation-id is sent'));
  }
  return issues;
}

function selectorOf(values: ReadonlyMap<string, string>): ProxySelector | undefined {
  const installationId = values.get('x-svc-installation-id');
  if (installationId) return { installationId: storedId(installationId) };
  const integration = values.get('x-svc-integration-name');
  const groupRef = values.get('x-svc-group-ref');
  return integration && groupRef ? { integration, groupRef } : undefined;
}

function issue(name: string, detail: string): Issue {
  return { in: 'header', name, detail };
}
