import { beforeAndAfter, confine, record, type Actor, type Reach } from '../events/index.ts';
import type { Database, Queryable } from '../kit/db/database.ts';
import { isTaken } from '../kit/db/faults.ts';
import type { Ground } from '../kit/ground.ts';
import { isId, newId } from '../kit/ids.ts';
import { problem, refuse, type Problem } from '../kit/problem.ts';
import type { Catalog } from '../providers/index.ts';
import { checkOrigins, createAllowedOrigins, type AllowedOrigins } from './allowed-origins.ts';
import {
  createProviderApps,
  type ProviderApps,
  type ProviderAppSecrets,
} from './provider-apps/provider-apps.ts';
import { admitting, type Admitting } from './auth/admitting.ts';
import { createFailureGuard } from './auth/failures.ts';
import { authorize, resolveProject, type Principal, type RouteScopes } from './auth/principal.ts';
import type { VisitHook } from './auth/visit.ts';
import { bootstrap, type BootstrapOptions, type Bootstrapped } from './bootstrap.ts';
import type { AbsencesHook } from './integrations/absences.ts';
import {
  createIntegrations,
  type IntegrationDeleteHook,
  type Integrations,
  type RevisionHook,
} from './integrations/integrations.ts';
import type { Installed } from './integrations/installed.ts';
import type { DestinationsHook } from './integrations/lost-destinations.ts';
import type { Integration } from './integrations/store.ts';
import { createApiKeys, type ApiKeys } from './keys/api-keys.ts';
import { createJwtKeys, type JwtKeys } from './keys/jwt-keys.ts';
import { createConnectLinks, connectPath, type ConnectLinks } from './embed/connect-links.ts';
import { createFrontendTokens, type Answerable, type FrontendTokens } from './embed/frontend-tokens.ts';
import type { FrontendToken } from './embed/schema.ts';
import { factsOf } from './manifest/facts.ts';
import { createRateLimit, type RateLimit } from './rate-limit/rate-limit.ts';
import { boundKeepDays, checkKeepDays } from './keep-days.ts';
import type { ApiKey, KeepDays, Project } from './schema.ts';
import * as store from './store.ts';

/** The builder's side: projects, credentials, provider apps, integrations. */
export interface Projects extends Admitting {
  /** On an empty database: project `default` and one full key. See {@link bootstrap}. */
  bootstrap(options?: BootstrapOptions): Promise<Bootstrapped>;
  /** Counts a request of the caller. See {@link RateLimit}. */
  admit: RateLimit['admit'];
  /** Throws forbidden. */
  authorize(principal: Principal, scopes: RouteScopes, method?: string): void;
  /** Throws not-found for every project but the principal's own. */
  resolveProject(principal: Principal, idOrName: string): { id: string; name: string };
  /** What the caller reaches of the project of a path. Throws as {@link Projects.resolveProject}. */
  confine(principal: Principal, idOrName: string): Reach;
  get(id: string): Promise<Project>;
  /** Those of the caller. */
  listFor(principal: Principal): Promise<Project[]>;
  /** A new project with its first key. Throws already-exists. */
  create(given: { name: string; appName?: string }): Promise<Project & { apiKey: ApiKey }>;
  update(id: string, change: store.ProjectChange): Promise<Project>;
  /** What a project may keep of what it asks for: no more than the operator. */
  boundKeepDays(asked: KeepDays): KeepDays;
  /** After its rows were written elsewhere: what this node remembers of its keys and origins, and that a key is not there. */
  forget(id: string): void;
  /** Whether a page of this origin may call from a browser. See {@link AllowedOrigins}. */
  allowsOrigin(origin: string, projectIdOrName?: string): Promise<boolean>;
  /** The origins of a project whose pages may call, with those of the operator. */
  originsOf(projectIdOrName: string): Promise<string[]>;
  /** Throws return-url-not-allowed unless the origin of the URL is the project's or the operator's, or it is our own page of a link. */
  assertReturnUrl(projectId: string, returnUrl: string): Promise<void>;
  /** Whether what an actor came with is there: a key, or the key or the link behind a token. */
  stillHolds(actor: Actor): Promise<boolean>;
  /** A front-end token of a person, made by the key of the caller. */
  makeFrontendToken(
    principal: Principal,
    whose: { groupRef: string; consumerRef: string; expiresInSeconds: number },
  ): Promise<FrontendToken>;
  getIntegration(projectId: string, idOrName: string): Promise<Integration>;
  /** Registers who knows the persons that browsers are signed in as. */
  askForVisitorsBy(hook: VisitHook): void;
  /** Registers what is done with a new project, in its transaction. */
  afterCreate(hook: CreateHook): void;
  /** Registers what higher rooms delete with an integration, in its transaction. */
  beforeIntegrationDelete(hook: IntegrationDeleteHook): void;
  /** Registers what a deploy waits for before it answers. */
  afterRevision(hook: RevisionHook): void;
  /** Registers who asks a provider what of a manifest it lacks. */
  askForAbsencesBy(hook: AbsencesHook): void;
  /** Registers who knows the destinations that a manifest names. */
  askForDestinationsBy(hook: DestinationsHook): void;
  /** What is wrong with a destination that is named; undefined where it can be delivered to. */
  destinationFault: DestinationsHook;
  /** Registers who counts the installations that a deploy takes something from. */
  askInstalledBy(installed: Installed): void;
  /** The named provider app, or the default of the provider, with its secret. Throws provider-app-missing. */
  getProviderApp(projectId: string, provider: string, providerAppId?: string): Promise<ProviderAppSecrets>;
  readonly apiKeys: ApiKeys;
  readonly jwtKeys: JwtKeys;
  readonly connectLinks: ConnectLinks;
  readonly providerApps: ProviderApps;
  readonly integrations: Integrations;
  close(): Promise<void>;
}

/** Runs in the transaction that makes the project; what it returns runs after the commit. */
export type CreateHook = (tx: Queryable, projectId: string) => Promise<(() => void) | undefined>;

export interface ProjectsOptions {
  catalog: Catalog;
  failuresPerMinute?: number;
  /** Of each key, over all nodes; absent: as many as come. */
  requestsPerSecond?: number | undefined;
  /** Origins whose pages may call from a browser, whatever the project. */
  allowedOrigins?: readonly string[];
  /** Origins that a browser may be sent back to, whatever the project. */
  returnUrls?: readonly string[];
  /** How long the operator keeps the past: no project keeps it longer. */
  keepDays?: Required<KeepDays>;
}

export function createProjects(
  ground: Pick<Ground, 'database' | 'vault' | 'log' | 'metrics' | 'publicUrl'>,
  {
    catalog,
    failuresPerMinute = 300,
    requestsPerSecond,
    allowedOrigins = [],
    returnUrls = [],
    keepDays,
  }: ProjectsOptions,
): Projects {
  const { database, vault } = ground;
  const apiKeys = createApiKeys(ground);
  const jwtKeys = createJwtKeys(ground);
  const guard = createFailureGuard(ground, failuresPerMinute);
  const rateLimit = requestsPerSecond === undefined ? undefined : createRateLimit(ground, requestsPerSecond);
  const providerApps = createProviderApps({ database, vault }, catalog);
  const integrations = createIntegrations(database, factsOf(catalog));
  const origins = createAllowedOrigins(database, allowedOrigins);
  const hooks: Hooks = { created: [] };
  const kept = keeping(database, { apiKeys, jwtKeys, origins, keepDays, hooks });
  const assertReturnUrl = returning(ground.publicUrl, returnUrls, origins);
  const { connectLinks, tokens } = embedding(ground, { apiKeys, integrations, kept, assertReturnUrl });

  return {
    apiKeys,
    jwtKeys,
    providerApps,
    integrations,
    connectLinks,
    ...admitting({ apiKey: apiKeys, token: jwtKeys, ownToken: tokens, hooks }, guard),
    ...kept,
    ...registering(hooks),
    originsOf: (project) => origins.of(project),
    assertReturnUrl,
    makeFrontendToken: (principal, whose) => makeToken(database, tokens, principal, whose),
    stillHolds: (actor) => stillHolds({ apiKeys, jwtKeys, connectLinks }, actor),
    allowsOrigin: (origin, project) => origins.allows(origin, project),
    bootstrap: (options) => bootstrap(database, options),
    admit: (principal, surface) => rateLimit?.admit(principal, surface),
    authorize,
    resolveProject,
    confine: confineTo,
    ...asking(integrations, providerApps),
    close: async () => {
      for (const cache of [origins, connectLinks]) cache.close();
      await Promise.all([apiKeys.close(), jwtKeys.close(), integrations.close(), rateLimit?.close()]);
    },
  };
}

/** Links and tokens answer for one another: a token ends with its link or its key, a link with its key. */
function embedding(
  ground: Pick<Ground, 'database' | 'vault' | 'publicUrl'>,
  by: { apiKeys: ApiKeys; integrations: Integrations } & Pick<Projects, 'assertReturnUrl'> & {
      kept: Pick<Projects, 'get'>;
    },
): { connectLinks: ConnectLinks; tokens: FrontendTokens } {
  const keyOf = async (id: string) => answerableKey(await by.apiKeys.holding(id));
  const connectLinks = createConnectLinks({
    ground,
    keyHolds: async (id) => (await keyOf(id)) !== undefined,
    tokens: () => tokens,
    project: (id) => by.kept.get(id),
    integrationId: async (projectId, idOrName) => (await by.integrations.get(projectId, idOrName)).id,
    assertReturnUrl: by.assertReturnUrl,
  });
  const tokens = createFrontendTokens(ground.vault, {
    apiKey: keyOf,
    connectLink: (id) => connectLinks.holding(id),
  });
  return { connectLinks, tokens };
}

interface Hooks {
  visit?: VisitHook;
  created: CreateHook[];
}

function registering(hooks: Hooks): Pick<Projects, 'askForVisitorsBy' | 'afterCreate'> {
  return {
    askForVisitorsBy(hook) {
      hooks.visit = hook;
    },
    afterCreate: (hook) => void hooks.created.push(hook),
  };
}

function confineTo(principal: Principal, idOrName: string): Reach {
  resolveProject(principal, idOrName);
  return confine(principal);
}

type Asking = Pick<
  Projects,
  | 'getIntegration'
  | 'beforeIntegrationDelete'
  | 'afterRevision'
  | 'askForAbsencesBy'
  | 'askForDestinationsBy'
  | 'destinationFault'
  | 'askInstalledBy'
  | 'getProviderApp'
>;

function asking(integrations: Integrations, providerApps: ProviderApps): Asking {
  return {
    getIntegration: (projectId, idOrName) => integrations.get(projectId, idOrName),
    beforeIntegrationDelete: (hook) => integrations.beforeDelete(hook),
    afterRevision: (hook) => integrations.afterRevision(hook),
    askForAbsencesBy: (hook) => integrations.askForAbsencesBy(hook),
    askForDestinationsBy: (hook) => integrations.askForDestinationsBy(hook),
    destinationFault: (projectId, name) => integrations.destinationFault(projectId, name),
    askInstalledBy: (installed) => integrations.askInstalledBy(installed),
    getProviderApp: (projectId, provider, id) => providerApps.secrets(projectId, provider, id),
  };
}

/** A key that still makes tokens answers for those that it made. */
function answerableKey(key: Awaited<ReturnType<ApiKeys['holding']>>): Answerable | undefined {
  if (!key?.scopes.includes('full') && !key?.scopes.includes('develop')) return undefined;
  const { project_id: projectId, project_name: name, group_ref: groupRef } = key;
  return { projectId, projectName: name, ...(groupRef === null ? {} : { groupRef }) };
}

/** A person's role is not asked for: who began something may see it end. */
async function stillHolds(
  { apiKeys, jwtKeys, connectLinks }: Pick<Projects, 'apiKeys' | 'jwtKeys' | 'connectLinks'>,
  { kind, keyId }: Actor,
): Promise<boolean> {
  if (keyId === undefined || (kind !== 'apiKey' && kind !== 'jwt')) return true;
  if ((await apiKeys.holding(keyId)) !== undefined) return true;
  // The id of a token is that of the key that signed it, or of the link that it was made for.
  return (
    kind === 'jwt' && ((await connectLinks.holding(keyId)) !== undefined || (await jwtKeys.holds(keyId)))
  );
}

async function makeToken(
  database: Database,
  tokens: FrontendTokens,
  { keyId, projectId, person }: Principal,
  { groupRef, consumerRef, expiresInSeconds }: Parameters<Projects['makeFrontendToken']>[1],
): Promise<FrontendToken> {
  if (person)
    throw problem('forbidden', {
      detail: 'A front-end token ends with the API key that made it: a person makes none.',
      remedy: 'Make it with an API key, or make a connect link.',
    });
  const expiresAt = Date.now() + expiresInSeconds * 1_000;
  const made = tokens.make({ by: 'apiKey', id: keyId, groupRef, consumerRef, expiresAt });
  await database.transaction((tx) => {
    const details = { groupRef, consumerRef, expiresAt: made.expiresAt };
    return record(tx, { projectId, action: 'frontendToken.created', targetId: keyId, details });
  });
  return made;
}

function returning(
  publicUrl: string,
  everywhere: readonly string[],
  origins: AllowedOrigins,
): Projects['assertReturnUrl'] {
  return async (projectId, returnUrl) => {
    const url = URL.parse(returnUrl);
    if (url && /^https?:$/.test(url.protocol) && !url.username && !url.password) {
      const own = new URL(`${publicUrl}${connectPath}/${projectId}`);
      if (url.origin === own.origin && url.pathname === own.pathname) return;
      const allowed = [...everywhere.map((one) => URL.parse(one)?.origin), ...(await origins.of(projectId))];
      if (allowed.includes(url.origin)) return;
    }
    throw problem('return-url-not-allowed', {
      detail: `The origin of ${JSON.stringify(returnUrl)} is neither one of the project's nor one that the operator allows.`,
    });
  };
}

interface Kept {
  apiKeys: ApiKeys;
  jwtKeys: JwtKeys;
  origins: AllowedOrigins;
  keepDays: Required<KeepDays> | undefined;
  hooks: Hooks;
}

function keeping(
  database: Database,
  { apiKeys, jwtKeys, origins, keepDays, hooks }: Kept,
): Pick<Projects, 'get' | 'listFor' | 'create' | 'update' | 'boundKeepDays' | 'forget'> {
  function forget(id: string): void {
    origins.forget();
    for (const keys of [apiKeys, jwtKeys]) keys.forgetProject(id);
  }

  return {
    get: async (id) => (await store.findProject(database, id)) ?? absent(id),
    listFor: ({ person, projectId }) => store.listProjects(database, person?.projectIds ?? [projectId]),
    async create({ name, appName = name }) {
      const project = { id: newId(), name: projectName(name), appName };
      const after: ((() => void) | undefined)[] = [];
      const made = await orTaken(name, () =>
        database.transaction(async (tx) => {
          const created = await store.insertProject(tx, project);
          const { id, name: kept } = created;
          const details = { name: kept, appName };
          await record(tx, { projectId: id, action: 'project.created', targetId: id, details });
          const apiKey = await apiKeys.create(created.id, { label: 'first key', scopes: ['full'] }, tx);
          for (const hook of hooks.created) after.push(await hook(tx, id));
          return { ...created, apiKey };
        }),
      );
      for (const work of after) work?.();
      return made;
    },
    async update(id, given) {
      const { name } = given;
      const change = { ...given, ...(name === undefined ? {} : { name: projectName(name) }) };
      checkOrigins(given.allowedOrigins ?? []);
      checkKeepDays({ ...given.keepDays, ...given.keepDaysOf }, keepDays);
      const updated = await orTaken(name ?? '', () =>
        database.transaction(async (tx) => {
          const before = await store.findProject(tx, id);
          const after = (await store.updateProject(tx, id, change)) ?? absent(id);
          const details = settingsChanged(before ?? after, after);
          await record(tx, { projectId: id, action: 'project.updated', targetId: id, details });
          return after;
        }),
      );
      if (name === undefined) origins.forget();
      else forget(id);
      return updated;
    },
    boundKeepDays: (asked) => boundKeepDays(asked, keepDays),
    forget,
  };
}

function settingsChanged(before: Project, after: Project): ReturnType<typeof beforeAndAfter> {
  const { updateTime: _then, ...was } = before;
  const { updateTime: _now, ...is } = after;
  return beforeAndAfter(was, is);
}

/** Names are kept in lower case; one that looks like an id could not be told from one in a path. */
function projectName(name: string): string {
  if (!isId(name)) return name.toLowerCase();
  throw refuse([{ in: 'body', name: 'name', detail: 'must not have the form of an id', value: name }]);
}

async function orTaken<T>(name: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw isTaken(error) ? taken(name, error) : error;
  }
}

function taken(name: string, cause: unknown): Problem {
  return problem('already-exists', {
    detail: `A project with the name ${name.toLowerCase()} exists already.`,
    cause,
  });
}

function absent(id: string): never {
  throw problem('not-found', { detail: `There is no project ${id}.` });
}
