import { newBrowser } from '../../../simulator/browser.ts';
import {
  answerOf,
  type CreateDestinationRequest,
  type Svc,
  type SvcError,
} from '../../../ui/client/src/index.ts';
import type { Manifest, ManifestIntegration } from '../../projects/manifest/schema.ts';
import { Failure } from '../failure.ts';
import { wholeContent } from '../whole-content.ts';
import type { LocalPlatform } from './platform.ts';

/** What a builder registers at a provider; the simulators take any. */
const client = { clientId: 'svc-dev', clientSecret: 'svc-dev-secret' };
const scopes: Readonly<Record<string, readonly string[]>> = {
  hubspot: [
    'oauth',
    'tickets',
    ...['contacts', 'companies', 'deals'].flatMap((name) => [
      `crm.objects.${name}.read`,
      `crm.objects.${name}.write`,
      `crm.schemas.${name}.read`,
    ]),
  ],
  salesforce: ['api', 'refresh_token'],
};

/** Makes the destinations that the manifest names and that are not there: webhooks to the receiver. Moves those of before there. */
export async function openDestinations(svc: Svc, manifest: Manifest, url: string): Promise<void> {
  const names = new Set(
    manifest.integrations.flatMap(({ read }) =>
      (read?.objects ?? []).flatMap((one) => one.destination ?? []),
    ),
  );
  const { api, project: projectIdOrName } = svc;
  for (const destination of names) {
    const params = { path: { projectIdOrName, destination } };
    const path = '/v1/projects/{projectIdOrName}/destinations/{destination}';
    const found = await answerOf(api.GET(path, { params })).catch((error: SvcError) => {
      if (error.status !== 404) throw error;
      return undefined;
    });
    if (found && 'url' in found.metadata && found.metadata.url !== url && found.type === 'webhook') {
      const body = { updateMask: ['metadata.url'], destination: { metadata: { url } } };
      await answerOf(api.PATCH(path, { params, body }));
    }
    if (found) continue;
    const body: CreateDestinationRequest = { name: destination, type: 'webhook', metadata: { url } };
    await answerOf(
      api.POST('/v1/projects/{projectIdOrName}/destinations', {
        params: { path: { projectIdOrName } },
        body,
      }),
    );
  }
}

/** Registers the builder at a simulated provider, on both sides. */
export async function registerClient(svc: Svc, platform: LocalPlatform, provider: string): Promise<void> {
  const body = { ...client, scopes: [...(scopes[provider] ?? [])] };
  const redirectUris = [`${platform.url}/callbacks/v1/oauth`];
  const made = await fetch(`${platform.simulated[provider]}/__sim/apps`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ...body, redirectUris }),
  });
  if (!made.ok)
    throw new Failure(
      `The simulated ${provider} refused: ${await made.text()}`,
      'Delete the folder of svc dev and run it again.',
    );
  const { api, project: projectIdOrName } = svc;
  const path = '/v1/projects/{projectIdOrName}/provider-apps';
  const params = { path: { projectIdOrName } };
  const apps = await answerOf(api.GET(path, { params }));
  if (Array.isArray(apps) && apps.some((app) => app.provider === provider)) return;
  await answerOf(api.POST(path, { params, body: { provider, ...body } }));
}

/** Connects the account of the group at the simulated provider, as its customer would in a browser. */
export async function connectAccount(svc: Svc, provider: string, groupRef: string): Promise<void> {
  for await (const { status } of svc.connections.list({ provider, groupRef }))
    if (status !== 'bad_credentials') return;
  const url = await svc.connections.connectUrl({
    provider,
    groupRef,
    consumerRef: groupRef,
    ...(provider === 'salesforce' ? { providerWorkspaceRef: 'acme' } : {}),
  });
  const page = await newBrowser().open(url);
  if (page.status === 200) return;
  throw new Failure(
    `${groupRef} could not be connected to the simulated ${provider}: ${page.text
      .replaceAll(/<[^>]*>/g, ' ')
      .trim()
      .slice(0, 300)}`,
    'Delete the folder of svc dev and run it again.',
  );
}

/** Installs the integration for the group with everything that the manifest offers, and reads it now. */
export async function installAll(
  svc: Svc,
  { name: integration, ...declared }: ManifestIntegration,
  groupRef: string,
): Promise<void> {
  for await (const one of svc.installations.list({ integration, groupRef })) if (one.id) return;
  const content = wholeContent(declared);
  await svc.installations.create({ integration, groupRef, config: { content } });
  for (const { objectName, mapToName } of declared.read?.objects ?? [])
    await svc.reads.start({ integration, object: mapToName ?? objectName, groupRef });
}
