import { newBrowser } from '../simulator/browser.ts';
import type { Answer, Platform } from './platform.ts';

/** A group with a connection and an installation, made through the API. */
export interface Customer {
  groupRef: string;
  connectionId: string;
  installationId: string;
  integration: string;
  write<Body = WriteBody>(
    object: string,
    body: Record<string, unknown>,
    options?: { key?: string; headers?: Record<string, string> },
  ): Promise<Answer<Body>>;
  operation(id: string): Promise<OperationBody>;
  /** Waits until the operation has ended. */
  settled(id: string, timeoutMs?: number): Promise<OperationBody>;
}

export interface WriteBody {
  operationId: string;
  code?: string;
  detail?: string;
  remedy?: string;
  issues?: { in: string; name: string; detail: string }[];
  result?: { success: boolean; recordId?: string; data?: Record<string, unknown> };
  errors?: { message: string; category: string; retryable: boolean }[];
  results?: {
    success: boolean;
    recordId?: string;
    reference?: string;
    errors?: { message: string; category: string }[];
  }[];
  successCount?: number;
  failureCount?: number;
}

export interface OperationBody {
  id: string;
  projectId: string;
  integrationId: string;
  installationId: string;
  configId: string;
  actionType: string;
  resource: string;
  createTime: string;
  updateTime: string;
  unresolved?: true;
  retryOf?: string;
  retriedBy?: string;
  status: 'in_progress' | 'success' | 'failure';
  result: string;
  errors?: { message: string; category: string; index?: number; retryable?: boolean }[];
  counts?: { total: number; succeeded: number; failed: number; unknown: number };
  metadata?: {
    retry?: { attempts: number; nextAttempt?: string };
    objects?: string[];
    successfulRecordIds?: string[];
  };
}

/** The members of a problem that tests read. */
export interface ProblemBody {
  code: string;
  detail: string;
  remedy: string;
  retryable: boolean;
  requestId: string;
  operationId?: string;
  category?: string;
  provider?: { status?: number; code?: string; message?: string };
  issues?: {
    in: string;
    name: string;
    detail: string;
    value?: unknown;
    line?: number;
    column?: number;
    rule?: string;
  }[];
}

/** An installation as far as tests look into it. */
export interface InstallationBody {
  id: string;
  projectId: string;
  integrationId: string;
  group: { groupRef: string };
  connection: { id: string; provider: string };
  healthStatus: string;
  warnings?: { message: string }[];
  createdBy: string;
  config: {
    id: string;
    revisionId: string;
    createdBy: string;
    content: {
      provider: string;
      read?: { objects: Record<string, Record<string, unknown>> };
      write?: { objects: Record<string, Record<string, unknown>> };
      proxy?: { enabled?: boolean };
    };
  };
}

/** One request as a simulator received it. */
export interface SimulatorRequest {
  seq: number;
  method: string;
  path: string;
  headers: Record<string, string>;
  body: string;
  status: number;
}

export interface SimulatorEffect {
  seq: number;
  kind: string;
  object: string;
  id: string;
  fields: Record<string, unknown>;
}

const scopes = {
  hubspot: [
    'oauth',
    ...['contacts', 'companies', 'deals'].flatMap((name) => [
      `crm.objects.${name}.read`,
      `crm.objects.${name}.write`,
      `crm.schemas.${name}.read`,
    ]),
    'tickets',
  ],
  salesforce: ['api', 'refresh_token'],
};

export const manifest = `specVersion: 1.0.0
integrations:
  - name: hubspot-crm
    provider: hubspot
    read:
      objects:
        - objectName: contacts
          destination: d
          requiredFields:
            - fieldName: email
          optionalFields:
            - mapToName: phone
            - mapToName: notes
    write:
      objects:
        - objectName: contacts
          inheritMapping: true
        - objectName: companies
    proxy: { enabled: true }
  - name: salesforce-crm
    provider: salesforce
    write:
      objects: [{ objectName: Contact }, { objectName: Account }, { objectName: Lead }]
    proxy: { enabled: true }
  - name: hubspot-no-proxy
    provider: hubspot
    write:
      objects: [{ objectName: contacts }]
`;

/** Speaks to a simulator's control API. */
export async function simulator<Body = unknown>(
  url: string,
  method: string,
  path: string,
  body?: unknown,
): Promise<Body> {
  const answer = await fetch(`${url}/__sim${path}`, {
    method,
    ...(body === undefined
      ? {}
      : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  });
  if (!answer.ok)
    throw new Error(`${method} /__sim${path} answered ${answer.status}: ${await answer.text()}`);
  const text = await answer.text();
  return (text === '' ? undefined : JSON.parse(text)) as Body;
}

/** Merges two contacts at the simulated HubSpot; answers the id of what comes of them. */
export async function mergeContacts(url: string, primary: string, other: string): Promise<string> {
  const { accessToken } = await simulator<{ accessToken: string }>(url, 'POST', '/tokens', {
    action: 'issue',
  });
  const answer = await fetch(`${url}/crm/v3/objects/contacts/merge`, {
    method: 'POST',
    headers: { authorization: `Bearer ${accessToken}`, 'content-type': 'application/json' },
    body: JSON.stringify({ primaryObjectId: primary, objectIdToMerge: other }),
    signal: AbortSignal.timeout(10_000),
  });
  if (!answer.ok) throw new Error(`the merge was answered ${answer.status}: ${await answer.text()}`);
  return ((await answer.json()) as { id: string }).id;
}

export async function effects(url: string, object?: string): Promise<SimulatorEffect[]> {
  const found = await simulator<{ effects: SimulatorEffect[] } | SimulatorEffect[]>(
    url,
    'GET',
    `/effects${object ? `?object=${object}` : ''}`,
  );
  return Array.isArray(found) ? found : found.effects;
}

/** How many companies of this name were created in HubSpot. */
export async function companiesMade(url: string, name: string): Promise<number> {
  const found = await effects(url, 'companies');
  return found.filter(({ kind, fields }) => kind === 'create' && fields['name'] === name).length;
}

/** What a simulator was asked since `seq`; requests to its control API are not counted. */
export async function requestsOf(url: string, seq = 0): Promise<SimulatorRequest[]> {
  const { requests } = await simulator<{ requests: SimulatorRequest[] }>(
    url,
    'GET',
    `/requests?since=${seq}`,
  );
  return requests;
}

/** Runs the work and returns the requests that the simulator got meanwhile. */
export async function during<Result>(
  url: string,
  work: () => Promise<Result>,
): Promise<{ result: Result; requests: SimulatorRequest[] }> {
  const before = (await requestsOf(url)).at(-1)?.seq ?? 0;
  const result = await work();
  return { result, requests: await requestsOf(url, before) };
}

/** The next matching requests meet the fault (the simulators' control API). */
export async function fault(
  url: string,
  rule: {
    fault: Record<string, unknown>;
    method?: string;
    path?: string;
    object?: string;
    contains?: string;
    times?: number;
  },
): Promise<void> {
  await simulator(url, 'POST', '/faults', rule);
}

/** Deploys a manifest, by default the one above, and registers the OAuth clients that are missing. */
export async function deploy(platform: Platform, sourceYaml = manifest): Promise<void> {
  const deployed = await platform.call('PUT', `/projects/${platform.projectId}/integrations:batch`, {
    sourceYaml,
  });
  if (deployed.status !== 200) throw new Error(`deploy: ${deployed.status} ${deployed.text}`);
  for (const provider of ['hubspot', 'salesforce'] as const) {
    const app = await platform.call('POST', `/projects/${platform.projectId}/provider-apps`, {
      provider,
      clientId: `client-${provider}`,
      clientSecret: 'client-secret',
      scopes: scopes[provider],
    });
    if (![200, 409].includes(app.status)) throw new Error(`provider app: ${app.status} ${app.text}`);
  }
}

/** Connects a group by the OAuth flow: our URL, the provider's consent, our callback. `account` is asked for of Salesforce; HubSpot names its own. */
export async function connect(
  platform: Platform,
  provider: 'hubspot' | 'salesforce',
  groupRef: string,
  { consumerRef = `${groupRef}-user`, account = 'acme' } = {},
): Promise<string> {
  const started = await platform.call('POST', '/oauth-connect', {
    projectIdOrName: platform.projectId,
    provider,
    groupRef,
    consumerRef,
    ...(provider === 'salesforce' ? { providerWorkspaceRef: account } : {}),
  });
  if (started.status !== 200) throw new Error(`oauth-connect: ${started.status} ${started.text}`);
  const page = await newBrowser().open(started.text);
  if (page.status !== 200) throw new Error(`callback: ${page.status} ${page.text}`);
  const found = await platform.call<{ id: string }[]>(
    'GET',
    `/projects/${platform.projectId}/connections?groupRef=${groupRef}&provider=${provider}`,
  );
  return found.body[0]?.id ?? '';
}

/** A connected group with an installation of the integration. */
export async function install(
  platform: Platform,
  integration: 'hubspot-crm' | 'hubspot-links' | 'salesforce-crm' | 'hubspot-no-proxy',
  groupRef: string,
  content: Record<string, unknown> = {},
  { skipSampling = false } = {},
): Promise<Customer> {
  const provider = integration.startsWith('hubspot') ? 'hubspot' : 'salesforce';
  const connectionId = await connect(platform, provider, groupRef);
  const made = await platform.call<{ id: string }>(
    'POST',
    `/projects/${platform.projectId}/integrations/${integration}/installations?skipSampling=${skipSampling}`,
    {
      groupRef,
      config: { content: { provider, ...content } },
    },
  );
  if (made.status !== 201) throw new Error(`installation: ${made.status} ${made.text}`);
  return customer(platform, { integration, groupRef, connectionId, installationId: made.body.id });
}

function customer(
  platform: Platform,
  made: Pick<Customer, 'integration' | 'groupRef' | 'connectionId' | 'installationId'>,
): Customer {
  const operation = async (id: string): Promise<OperationBody> =>
    (await platform.call<OperationBody>('GET', `/projects/${platform.projectId}/operations/${id}`)).body;
  return {
    ...made,
    write: (object, body, options) =>
      platform.call(
        'POST',
        `/write/v1/projects/${platform.projectId}/integrations/${made.integration}/objects/${object}`,
        { groupRef: made.groupRef, ...body },
        options,
      ),
    operation,
    settled: async (id, timeoutMs = 20_000) => {
      const giveUpAt = Date.now() + timeoutMs;
      for (;;) {
        const found = await operation(id);
        if (found.status !== 'in_progress') return found;
        if (Date.now() > giveUpAt)
          throw new Error(`operation ${id} is still in progress: ${JSON.stringify(found)}`);
        await new Promise((resolve) => setTimeout(resolve, 25));
      }
    },
  };
}
