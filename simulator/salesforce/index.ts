import {
  createGround,
  createOAuth,
  json,
  startServer,
  type Call,
  type OAuth,
  type OAuthOptions,
  type Provider,
  type Reply,
  type StartOptions,
} from '../kit/index.ts';
import { serveData } from './api/serve.ts';
import {
  addData,
  changeSchema,
  countData,
  objectOf,
  readData,
  setQuotas,
  setSettings,
  settleOpen,
} from './control.ts';
import { createOrg } from './create-org.ts';
import { salesforceGuide } from './guide.ts';
import { serveIdentity } from './identity.ts';
import { defaultScopes, serveLogin } from './login.ts';
import type { Org } from './org.ts';
import { adminUsername } from './users.ts';

export type SalesforceOptions = StartOptions & {
  /** Rotating refresh tokens for every app; a registered app may say otherwise. */
  rotation?: boolean;
};

export type Salesforce = {
  url: string;
  /** The 18-character id of the simulated org. */
  readonly orgId: string;
  close: () => Promise<void>;
};

/** A user may have this many token pairs for one app; one more revokes the oldest. */
const tokenCap = 5;
const defaultRecords = 50;

/** Starts a simulated Salesforce org on 127.0.0.1; `records` is the number of contacts. */
export async function startSalesforce(options: SalesforceOptions = {}): Promise<Salesforce> {
  const ground = createGround(options);
  const rotation = options.rotation ?? false;
  const fresh = (seed: number, records: number): Org => createOrg(ground, { seed, records, rotation });
  const records = options.records ?? defaultRecords;
  const state = { org: fresh(options.seed ?? 1, records) };
  const oauth = createOAuth(ground, tokenOptions(state, options));
  const provider: Provider = {
    name: 'salesforce',
    handle: (call) => handle(state.org, oauth, call),
    crashed: (error) => {
      const message = error instanceof Error ? error.message : 'unknown';
      return json(500, [
        { message: `An unexpected error occurred: ${message}`, errorCode: 'UNKNOWN_EXCEPTION' },
      ]);
    },
    oauth,
    guide: salesforceGuide,
    defaultAccount: adminUsername,
    defaultScopes,
    objectOf: (call) => objectOf(state.org, call.target, call.text),
    reset: (input) => {
      state.org = fresh(input.seed, input.records);
    },
    quotas: (input) => setQuotas(state.org, input),
    settings: (input) => setSettings(state.org, input),
    addSchema: (input) => changeSchema(state.org, input),
    addData: (input) => addData(state.org, input),
    readData: (object, id) => readData(state.org, object, id),
    counts: () => countData(state.org),
    settle: () => settleOpen(state.org),
  };
  const running = await startServer(provider, ground, { ...options, records });
  return {
    url: running.url,
    get orgId() {
      return state.org.id;
    },
    close: running.close,
  };
}

function tokenOptions(state: { org: Org }, options: SalesforceOptions): OAuthOptions {
  return {
    accessLifeMs: () => state.org.settings.sessionTimeoutMs,
    mintAccess: (random) => `${state.org.id.slice(0, 15)}!${random.text(96)}`,
    mintRefresh: (random) => `5Aep861${random.text(80)}`,
    get rotation() {
      return state.org.settings.rotation;
    },
    grantCap: tokenCap,
    revokeEndsAccess: true,
    ...(options.strictApps === undefined ? {} : { strictApps: options.strictApps }),
  };
}

function handle(org: Org, oauth: OAuth, call: Call): Reply {
  if (call.path.startsWith('/services/data')) return serveData(org, oauth, call);
  return (
    serveIdentity(org, oauth, call) ??
    serveLogin(org, oauth, call) ??
    json(404, [{ message: 'The requested resource does not exist', errorCode: 'NOT_FOUND' }])
  );
}
