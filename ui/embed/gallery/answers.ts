/** What svc would answer to the components of a state, from fixtures of this page. */
import type {
  Connection,
  HydratedRevision,
  Installation,
  ProviderInfo,
  ReadPreview,
  WritePlanned,
} from '@svc/client';
import { integration, revision } from './fixtures.ts';

/** A problem that svc answers. */
export interface Refused {
  refused: { code: string; status: number; detail: string; issues?: { name: string; detail: string }[] };
}
type Answer<Value> = Value | Refused | 'never' | 'lost';

export interface Answers {
  integration?: Answer<typeof integration>;
  provider: Answer<ProviderInfo>;
  connection?: Answer<Connection | undefined>;
  installation?: Answer<Installation | undefined>;
  revision?: Answer<HydratedRevision>;
  /** Of a sign-in that is begun, and of typed credentials. */
  connect?: Answer<Connection | string>;
  /** Of an installation that is made or changed. */
  save?: Answer<Installation>;
  /** The installation as it is read again after a change of somebody else's. */
  theirs?: Answer<Installation>;
  uninstall?: Answer<null>;
  /** Examples of what a config does. */
  delivered?: Answer<ReadPreview>;
  sent?: Answer<WritePlanned>;
}

type Kind = keyof Answers;
const one = '/v1/projects/[^/]+';
const routes: [method: string, path: RegExp, kind: Kind][] = [
  ['GET', new RegExp(`^${one}/integrations/[^/]+$`), 'integration'],
  ['GET', /^\/v1\/providers\/[^/]+$/, 'provider'],
  ['GET', new RegExp(`^${one}/connections(/[^/]+)?$`), 'connection'],
  ['GET', new RegExp(`^${one}/integrations/[^/]+/installations$`), 'installation'],
  ['GET', new RegExp(`^${one}/integrations/[^/]+/installations/[^/]+$`), 'theirs'],
  ['GET', /:hydrate$/, 'revision'],
  ['POST', /\/oauth-connect$|connections:generate$/, 'connect'],
  ['PATCH', /:oauth-update$|\/connections\/[^/]+$/, 'connect'],
  ['POST', /\/installations$/, 'save'],
  ['PATCH', /\/installations\/[^/]+$/, 'save'],
  ['DELETE', /\/installations\/[^/]+$/, 'uninstall'],
  ['POST', /\/read-preview$/, 'delivered'],
  ['POST', /\/write-preview$/, 'sent'],
];

const isRefused = (known: unknown): known is Refused =>
  typeof known === 'object' && known !== null && 'refused' in known;

/** Stands in for `fetch`. */
export async function answer(request: Request, answers: Answers): Promise<Response> {
  const { pathname } = new URL(request.url);
  const route = routes.find(([method, path]) => method === request.method && path.test(pathname));
  const kind = route?.[2];
  if (!kind) throw new TypeError(`nothing of this page answers ${request.method} ${pathname}`);
  const known = { integration, revision, ...answers }[kind];
  if (known === 'never') return new Promise(() => undefined);
  if (known === 'lost') throw new TypeError('Failed to fetch');
  if (isRefused(known)) return refusalOf(known);
  const isList = request.method === 'GET' && /\/(connections|installations)$/.test(pathname);
  if (isList) return json({ results: known ? [known] : [], pagination: { done: true } });
  if (known === undefined || known === null) return new Response(null, { status: 204 });
  return typeof known === 'string' ? new Response(known) : json(known);
}

const json = (body: unknown): Response => Response.json(body);

function refusalOf({ refused }: Refused): Response {
  const problem = {
    type: `urn:svc:problem:${refused.code}`,
    title: refused.code,
    remedy: '',
    requestId: '01JD8Z5W1T6Q',
    retryable: false,
    time: '2026-01-01T00:00:00Z',
    ...refused,
  };
  return Response.json(problem, {
    status: refused.status,
    headers: { 'content-type': 'application/problem+json' },
  });
}
