import { deploy } from './customer.ts';
import { startPlatform, type Platform } from './platform.ts';

const manifest = `specVersion: 1.0.0
integrations:
  - name: raw
    provider: iterable
    proxy: { enabled: true }
`;

/** A platform with one installation of a provider that lives at `origin`, the headers that select it, and a way to connect it anew. */
export async function startRawPlatform(
  databaseUrl: string,
  origin: string,
  env: Record<string, string> = {},
): Promise<{
  platform: Platform;
  ours: Record<string, string>;
  installationId: string;
  connect(): Promise<void>;
}> {
  const platform = await startPlatform({ databaseUrl, origins: { iterable: origin }, env });
  await deploy(platform, manifest);
  const connect = async (): Promise<void> => {
    const made = await platform.call('POST', '/projects/default/connections:generate', {
      provider: 'iterable',
      groupRef: 'acme',
      consumerRef: 'ada',
      apiKey: 'the-customers-key',
    });
    if (made.status !== 201) throw new Error(`connection: ${made.status} ${made.text}`);
  };
  await connect();
  const made = await platform.call<{ id: string }>(
    'POST',
    '/projects/default/integrations/raw/installations',
    {
      groupRef: 'acme',
      config: { content: { provider: 'iterable' } },
    },
  );
  if (made.status !== 201) throw new Error(`installation: ${made.status} ${made.text}`);
  const ours = {
    'x-svc-proxy-version': '1',
    'x-svc-project-id': platform.projectId,
    'x-api-key': platform.apiKey,
    'x-svc-installation-id': made.body.id,
  };
  return { platform, ours, installationId: made.body.id, connect };
}
