import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { newBrowser } from '../../simulator/browser.ts';
import type { Api, Step } from './api.ts';
import { hubspotClient, proxyHeaders, salesforceClient } from './clients.ts';
import { deliverChange, openInbox } from './deliveries.ts';
import type { Stage } from './processes.ts';

interface Named {
  id: string;
  name: string;
}
interface App {
  id: string;
  provider: string;
  clientId: string;
}
interface WriteAnswer {
  operationId: string;
  result: { recordId: string };
}
interface Operation {
  id: string;
  status: string;
  result?: string;
  resource: string;
}

/** What the demo made, for the commands to try by hand. */
export interface Made {
  projectId: string;
  groupRef: string;
  installationId: string;
  operationId: string;
}

const manifest = join(import.meta.dirname, '../../examples/crm-sync/svc.yaml');
export const apps = {
  hubspot: {
    clientId: 'demo-hubspot',
    clientSecret: 'demo-secret',
    scopes: [
      'oauth',
      'crm.objects.contacts.read',
      'crm.objects.contacts.write',
      'crm.objects.companies.read',
      'crm.objects.companies.write',
      'crm.schemas.contacts.read',
      'crm.schemas.companies.read',
    ],
  },
  salesforce: { clientId: 'demo-salesforce', clientSecret: 'demo-secret', scopes: ['api', 'refresh_token'] },
};
const contactsConfig = {
  provider: 'hubspot',
  read: {
    objects: {
      contacts: {
        objectName: 'contacts',
        selectedFields: { email: true, firstname: true },
        selectedFieldMappings: { phone: 'mobilephone' },
      },
    },
  },
  write: {
    objects: {
      contacts: {
        objectName: 'contacts',
        deletionSettings: { enabled: true },
        selectedFieldSettings: {
          lifecyclestage: { default: { stringValue: 'lead' }, writeOnUpdate: 'never' },
        },
      },
      companies: { objectName: 'companies' },
    },
  },
  proxy: { enabled: true },
};
const salesforceConfig = {
  provider: 'salesforce',
  write: {
    objects: {
      Contact: {
        objectName: 'Contact',
        deletionSettings: { enabled: true },
        selectedFieldSettings: { Phone: { writeOnUpdate: 'ifEmpty' } },
      },
      Account: { objectName: 'Account' },
    },
  },
  proxy: { enabled: true },
};

/** The main job, from deploying the manifest to looking the operations up. */
export async function runSteps(step: Step, api: Api, stage: Stage, apiKey: string): Promise<Made> {
  const groupRef = `acme-${Date.now().toString(36)}`;
  const project = await step('find the project of the key', async () => {
    const [first] = await api.call<Named[]>('GET', '/v1/projects');
    if (!first) throw new Error('the key sees no project');
    return [first, `${first.name} ${first.id}`];
  });
  const at = `/v1/projects/${project.id}`;
  const inbox = await openInbox(step, api, at);
  await step('deploy examples/crm-sync/svc.yaml', async () => {
    const sourceYaml = await readFile(manifest, 'utf8');
    const deployed = await api.call<Named[]>('PUT', `${at}/integrations:batch`, { sourceYaml });
    return [deployed, deployed.map(({ name, id }) => `${name} ${id}`).join(', ')];
  });
  const hubspot = await connectAndInstall(step, api, stage, at, groupRef, 'hubspot', contactsConfig);
  const salesforce = await connectAndInstall(step, api, stage, at, groupRef, 'salesforce', salesforceConfig);
  const write = writer(api, project.id, groupRef);
  await writeSynchronously(
    step,
    write,
    'hubspot-crm',
    'contacts',
    { email: `ada@${groupRef}.example`, phone: '+41 31 000 00 00' },
    { firstname: 'Ada' },
  );
  await writeSynchronously(
    step,
    write,
    'salesforce-crm',
    'Contact',
    { LastName: 'Lovelace', Email: `ada@${groupRef}.example` },
    { FirstName: 'Ada' },
  );
  const operationId = await writeAsynchronously(step, api, write, at, `grace@${groupRef}.example`);
  await deliverChange(step, api, stage, { projectId: project.id, groupRef, inbox });
  await callThroughProxy(step, stage, project.id, apiKey, hubspot, salesforce);
  await showOperations(step, api, at, { 'hubspot-crm': hubspot, 'salesforce-crm': salesforce });
  return { projectId: project.id, groupRef, installationId: hubspot, operationId };
}

async function connectAndInstall(
  step: Step,
  api: Api,
  stage: Stage,
  at: string,
  groupRef: string,
  provider: 'hubspot' | 'salesforce',
  content: object,
): Promise<string> {
  await step(`register the ${provider} OAuth client`, async () => {
    const app = await registerClient(api, stage, at, provider);
    return [app, app.id];
  });
  await step(`connect ${groupRef} to ${provider} (OAuth)`, async () => {
    const url = await api.text('POST', '/v1/oauth-connect', {
      projectIdOrName: at.split('/').at(-1),
      provider,
      groupRef,
      groupName: 'Acme Inc.',
      consumerRef: 'ada',
      consumerName: 'Ada',
      ...(provider === 'salesforce' ? { providerWorkspaceRef: 'acme' } : {}),
    });
    // A browser would show the consent page here; the simulator approves at once and redirects to our callback.
    const page = await newBrowser().open(url);
    if (page.status !== 200)
      throw new Error(
        `the consent ended at ${page.url.pathname} with ${page.status}: ${page.text.replaceAll(/<[^>]*>/g, ' ').slice(0, 400)}`,
      );
    const connections = await api.call<{ id: string; status: string }[]>(
      'GET',
      `${at}/connections?groupRef=${groupRef}&provider=${provider}`,
    );
    const made = connections[0];
    if (!made) throw new Error('no connection was made');
    return [made, `${made.id} ${made.status}`];
  });
  return step(`install ${provider}-crm for ${groupRef}`, async () => {
    const body = { groupRef, config: { createdBy: 'consumer:ada', content } };
    const made = await api.call<Named>('POST', `${at}/integrations/${provider}-crm/installations`, body);
    return [made.id, made.id];
  });
}

/** At the simulator, which is new in each run, and at svc, which keeps the app of an earlier demo: that one gets the secret of this run. */
async function registerClient(
  api: Api,
  stage: Stage,
  at: string,
  provider: 'hubspot' | 'salesforce',
): Promise<App> {
  const { clientId, ...rest } = apps[provider];
  const redirectUris = [`${stage.base}/callbacks/v1/oauth`];
  await fetch(`${stage[provider]}/__sim/apps`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ clientId, ...rest, redirectUris }),
  });
  const known = await api.call<App[]>('GET', `${at}/provider-apps`);
  const own = known.find((one) => one.provider === provider && one.clientId === clientId);
  if (!own) return api.call('POST', `${at}/provider-apps`, { provider, clientId, ...rest });
  const change = { updateMask: ['clientSecret', 'scopes'], providerApp: rest };
  return api.call('PATCH', `${at}/provider-apps/${own.id}`, change);
}

type Write = (integration: string, object: string, body: object) => Promise<WriteAnswer>;

function writer(api: Api, projectId: string, groupRef: string): Write {
  return (integration, object, body) =>
    api.call('POST', `/write/v1/projects/${projectId}/integrations/${integration}/objects/${object}`, {
      groupRef,
      ...body,
    });
}

async function writeSynchronously(
  step: Step,
  write: Write,
  integration: string,
  object: string,
  fields: object,
  change: object,
): Promise<void> {
  const { result } = await step(`create: ${object} of ${integration}`, async () => {
    const answer = await write(integration, object, { type: 'create', mode: 'synchronous', record: fields });
    return [answer, `record ${answer.result.recordId}, operation ${answer.operationId}`];
  });
  await step('update it', async () => {
    const answer = await write(integration, object, {
      type: 'update',
      record: { id: result.recordId, ...change },
    });
    return [answer, `record ${result.recordId}, operation ${answer.operationId}`];
  });
  await step('delete it', async () => {
    const answer = await write(integration, object, { type: 'delete', record: { id: result.recordId } });
    return [answer, `record ${result.recordId}, operation ${answer.operationId}`];
  });
}

async function writeAsynchronously(
  step: Step,
  api: Api,
  write: Write,
  at: string,
  email: string,
): Promise<string> {
  const { operationId } = await step('create a contact asynchronously', async () => {
    const answer = await write('hubspot-crm', 'contacts', {
      type: 'create',
      mode: 'asynchronous',
      record: { email },
    });
    return [answer, `operation ${answer.operationId}`];
  });
  await step('follow the operation to its end', async () => {
    const giveUpAt = Date.now() + 30_000;
    for (;;) {
      const operation = await api.call<Operation>('GET', `${at}/operations/${operationId}`);
      if (operation.status === 'failure') throw new Error(operation.result ?? 'it failed');
      if (operation.status === 'success') return [operation, `${operation.status}: ${operation.result}`];
      if (Date.now() > giveUpAt) throw new Error('the operation is still in progress after 30 s');
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  });
  return operationId;
}

async function callThroughProxy(
  step: Step,
  stage: Stage,
  projectId: string,
  apiKey: string,
  hubspot: string,
  salesforce: string,
): Promise<void> {
  await step('proxy: @hubspot/api-client lists contacts', async () => {
    const client = hubspotClient(stage.proxy, proxyHeaders(projectId, apiKey, hubspot));
    const page = await client.crm.contacts.basicApi.getPage(3, undefined, ['email']);
    return [page, page.results.map(({ id }) => id).join(', ')];
  });
  await step('proxy: jsforce queries accounts', async () => {
    const client = salesforceClient(stage.proxy, proxyHeaders(projectId, apiKey, salesforce));
    const { totalSize, records } = await client.query<{ Name: string }>(
      'SELECT Id, Name FROM Account ORDER BY Name LIMIT 3',
    );
    return [records, `${totalSize} of them: ${records.map(({ Name }) => Name).join(', ')}`];
  });
}

async function showOperations(
  step: Step,
  api: Api,
  at: string,
  installations: Record<string, string>,
): Promise<void> {
  for (const [integration, installation] of Object.entries(installations)) {
    await step(`operations of ${integration}`, async () => {
      const path = `${at}/integrations/${integration}/installations/${installation}/operations`;
      const { results } = await api.call<{ results: Operation[] }>('GET', path);
      return [
        results,
        results
          .map(({ status, result }) => `\n${' '.repeat(15)}${status.padEnd(11)} ${result ?? ''}`)
          .join(''),
      ];
    });
  }
}

/** Four commands that do the same by hand. */
export function curls(stage: Stage, apiKey: string, made: Made): string {
  const objects = `${stage.base}/write/v1/projects/${made.projectId}/integrations/hubspot-crm/objects/contacts`;
  const body = (fields: object): string =>
    `-d '${JSON.stringify({ groupRef: made.groupRef, type: 'create', ...fields })}'`;
  const key = `-H 'X-Api-Key: ${apiKey}'`;
  const json = `-H 'Content-Type: application/json'`;
  return [
    `# write and wait for the record\ncurl -sS ${objects} ${key} ${json} ${body({ record: { email: 'one@example.com' } })}`,
    `# write in the background\ncurl -sS ${objects} ${key} ${json} ${body({ mode: 'asynchronous', record: { email: 'two@example.com' } })}`,
    `# look an operation up\ncurl -sS ${stage.base}/v1/projects/${made.projectId}/operations/${made.operationId} ${key}`,
    `# call the provider's own API\ncurl -sS '${stage.proxy}/crm/v3/objects/contacts?limit=1' -H 'x-api-key: ${apiKey}' -H 'x-svc-proxy-version: 1' \\\n  -H 'x-svc-project-id: ${made.projectId}' -H 'x-svc-installation-id: ${made.installationId}'`,
  ].join('\n\n');
}
