import { createGround, startServer } from '../kit/index.ts';
import type { Running, StartOptions } from '../kit/index.ts';
import { createHubspot } from './provider.ts';

const DEFAULT_RECORDS = 100;

export type HubspotStartOptions = StartOptions & {
  /** A private app's token that is accepted with every scope. */
  privateAppToken?: string;
};

/** Starts a simulated HubSpot on 127.0.0.1 (a free port unless named), seeded with 100 contacts. */
export async function startHubspot(options: HubspotStartOptions = {}): Promise<Running> {
  const ground = createGround(options);
  const provider = createHubspot(ground, {
    strictApps: options.strictApps ?? false,
    privateToken: options.privateAppToken,
  });
  const records = options.records ?? DEFAULT_RECORDS;
  provider.reset({ seed: options.seed ?? 1, records });
  return startServer(provider, ground, { ...options, records });
}
