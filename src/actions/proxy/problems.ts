import { declareProblems } from '../../kit/problem-catalogue.ts';
import { kind, type ProblemKind } from '../../kit/problem-kind.ts';

export const proxyProblems = {
  'proxy-disabled': kind(
    403,
    'The proxy is not enabled',
    'Set `proxy.enabled: true` for the integration in `svc.yaml` and deploy it; the installation’s config must not disable it.',
    'Calls through the proxy need the integration’s `proxy.enabled`, and an installation may switch it off.',
  ),
  'proxy-request-invalid': kind(
    400,
    'The proxy request is not complete',
    'Correct what `issues` names. A call has `x-svc-proxy-version: 1`, `x-svc-project-id`, `x-api-key`, and either `x-svc-installation-id` or both `x-svc-integration-name` and `x-svc-group-ref`.',
    'A required header is missing, repeated or not valid, or the request target is not a path.',
  ),
  'proxy-upgrade-refused': kind(
    501,
    'The proxy does not change protocols',
    'Call the provider without `Upgrade`; WebSockets do not pass.',
    'The proxy passes HTTP requests and their answers. A request that would turn the connection into something else is not sent.',
  ),
  'proxy-method-refused': kind(
    405,
    'The proxy does not pass this method',
    'Use another method; CONNECT and TRACE do not pass.',
    'CONNECT would open a tunnel and TRACE would show the credentials of the connection, so neither is sent.',
  ),
} as const satisfies Record<string, ProblemKind>;

declareProblems(proxyProblems);

declare module '../../kit/problem-kind.ts' {
  interface DeclaredProblems {
    proxyProblems: typeof proxyProblems;
  }
}
