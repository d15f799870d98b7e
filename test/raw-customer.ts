import { deploy } from './customer.ts';
import { startPlatform, type Platform } from './platform.ts';

type Headers = Record<string, string>;

export interface RawPlatform {
  platform: Platform;
  /** What selects the first installation. */
  ours: Headers;
  installationId: string;
  /** What selects the installation of a provider. */
  oursOf(provider: string): Headers;
  /** Connects the first provider anew. */
  connect(): Promise<void>;
}

/** A platform with an installation of `iterable`, which lives at `origin`, and one of each of `more`. */
export async function startRawPlatform(
  databaseUrl: string,
  origin: string,
  env: Record<string, string> = {},
  more: Record<string, string> = {},
): Promise<RawPlatform> {
  const origins = { iterable: origin, ...more };
  const platform = await startPlatform({ databaseUrl, origins, env });
  const integrations = Object.keys(origins).map(
    (provider) => `  - { name: raw-${provider}, provider: ${provider}, proxy: { enabled: true } }`,
  );
  await deploy(platform, ['specVersion: 1.0.0', 'integrations:', ...integrations, ''].join('\n'));
  const ids: Record<string, string> = {};
  for (const provider of Object.keys(origins)) {
    await connect(platform, provider);
    ids[provider] = await install(platform, provider);
  }
  const oursOf = (provider: string): Headers => ({
    'x-svc-proxy-version': '1',
    'x-svc-project-id': platform.projectId,
    'x-api-key': platform.apiKey,
    'x-svc-installation-id': ids[provider] ?? '',
  });
  return {
    platform,
    ours: oursOf('iterable'),
    installationId: ids['iterable'] ?? '',
    oursOf,
    connect: () => connect(platform, 'iterable'),
  };
}

async function connect(platform: Platform, provider: string): Promise<void> {
  const made = await platform.call('POST', '/projects/default/connections:generate', {
    provider,
    groupRef: 'acme',
    consumerRef: 'ada',
    apiKey: 'the-customers-key',
  });
  if (made.status !== 201) throw new Error(`connection: ${made.status} ${made.text}`);
}

async function install(platform: Platform, provider: string): Promise<string> {
  const made = await platform.call<{ id: string }>(
    'POST',
    `/projects/default/integrations/raw-${provider}/installations`,
    { groupRef: 'acme', config: { content: { provider } } },
  );
  if (made.status !== 201) throw new Error(`installation: ${made.status} ${made.text}`);
  return made.body.id;
}
