import type { Ground } from '../../kit/ground.ts';
import { sendHttp, type HttpAnswer } from '../../kit/http/client.ts';
import { problem, type Problem, type ProviderAnswerSummary } from '../../kit/problem.ts';
import { connectorOf, healthCheckUrlOf, type ConnectionPlace, type Provider } from '../../providers/index.ts';
import { jsonFrom, textAt, type Credential } from '../credentials/index.ts';

/** Whether credentials work, by the provider's health check; `untested` when the catalogue has none. */
export type Health = { kind: 'works' } | { kind: 'untested' } | Doubt;

/** The provider refused, or nobody could tell. */
export interface Doubt {
  kind: 'rejected' | 'unsure';
  message: string;
  provider?: ProviderAnswerSummary;
  /** The request is at fault: other tokens of the same authorization meet the same. */
  ofRequest?: true;
}

/** Makes the cheapest call that needs a credential. Never throws for an answer. */
export async function checkHealth(
  ground: Ground,
  provider: Provider,
  place: ConnectionPlace,
  credential: Pick<Credential, 'headers' | 'query'>,
): Promise<Health> {
  const check = provider.authHealthCheck;
  const target = healthCheckUrlOf(provider, place);
  if (!check || !target) return { kind: 'untested' };
  const url = new URL(target);
  for (const [name, value] of Object.entries(credential.query ?? {})) url.searchParams.set(name, value);
  const request = {
    method: check.method ?? 'GET',
    url: url.href,
    headers: {
      accept: 'application/json',
      ...(check.body ? { 'content-type': 'application/json' } : {}),
      ...check.headers,
      ...credential.headers,
    },
    ...(check.body ? { body: JSON.stringify(check.body) } : {}),
  };
  const result = await sendHttp(ground.egress, request, { timeoutMs: ground.limits.providerCallMs });
  if ('fault' in result) return { kind: 'unsure', message: result.fault.message };
  return judgeHealth(provider, result.answer);
}

function judgeHealth(provider: Provider, answer: HttpAnswer): Health {
  const { status } = answer;
  const { successStatusCodes: expected, okField } = provider.authHealthCheck ?? {};
  const isExpected = expected ? expected.includes(status) : status >= 200 && status < 300;
  if (isExpected && (!okField || textAt(jsonFrom(answer.body), okField) === 'true')) return { kind: 'works' };
  const said = connectorOf(provider.name)?.failureOf(answer);
  const details = {
    message: said?.message ?? `status ${status}`,
    ...(said?.provider ? { provider: said.provider } : {}),
  };
  // Throttled or down: says nothing of the credentials.
  const says = status === 429 || status >= 500 || said?.category === 'rateLimit' ? 'unsure' : 'rejected';
  return { kind: says, ...details };
}

/** Credentials-rejected, or provider-unreachable when nobody could tell. */
export function refusalOfDoubt(provider: Provider, doubt: Doubt): Problem {
  const answered = doubt.provider ? { provider: doubt.provider } : {};
  if (doubt.kind === 'rejected') {
    const detail = `${provider.displayName} rejected the credentials: ${doubt.message}`;
    return problem('credentials-rejected', { detail, ...answered });
  }
  const detail = `The credentials could not be checked at ${provider.displayName}: ${doubt.message}`;
  return problem('provider-unreachable', { detail, ...answered });
}
