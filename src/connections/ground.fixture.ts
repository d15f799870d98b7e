import type { Database } from '../kit/db/database.ts';
import type { Ground } from '../kit/ground.ts';
import { parseAddressRules } from '../kit/http/address.ts';
import { createEgress } from '../kit/http/egress.ts';
import { createLog } from '../kit/log.ts';
import { createMetrics } from '../kit/metrics.ts';
import { createVault, parseMasterKeys } from '../kit/vault.ts';

export const publicUrl = 'http://svc.test';

/** What a node of a test stands on. */
export function groundOn(database: Database, masterKey: string): Ground {
  return {
    database,
    log: createLog('silent'),
    vault: createVault(parseMasterKeys(masterKey)),
    egress: createEgress({ allow: parseAddressRules(['127.0.0.1']), connectTimeoutMs: 2_000 }),
    metrics: createMetrics(),
    limits: {
      bodyBytes: 1e7,
      recordBytes: 1e6,
      nesting: 100,
      lateEffectMs: undefined,
      mappedOnlyIn: () => false,
      providerCallMs: 10_000,
      proxyCallMs: 60_000,
      connectMs: 2_000,
      sessionIdleMinutes: 720,
      sessionHours: 168,
    },
    publicUrl,
  };
}
