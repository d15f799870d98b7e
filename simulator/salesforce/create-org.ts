import type { Ground } from '../kit/index.ts';
import { makeId } from './ids.ts';
import type { Org, Settings } from './org.ts';
import { createQuota } from './quota.ts';
import { standardObjects } from './schema/objects.ts';
import { buildSchema } from './schema/object-types.ts';
import { seedOrg } from './seed.ts';
import { createStore } from './store/store.ts';

type OrgInput = { seed: number; records: number; rotation: boolean };

export function createOrg(ground: Ground, input: OrgInput): Org {
  const createdAt = ground.clock.now() - 30 * 86_400_000;
  const schema = buildSchema(standardObjects, createdAt);
  const pod = `Hs${input.seed % 10}`;
  const org: Org = {
    ground,
    id: makeId('00D', 1, pod),
    createdAt,
    schema,
    store: createStore(schema, pod),
    settings: defaultSettings(input.rotation),
    quota: createQuota(),
    cursors: new Map(),
    jobs: new Map(),
    open: [],
    counters: new Map(),
    recent: new Map(),
  };
  seedOrg(org, input);
  org.store.madeFrom = ground.madeFrom;
  return org;
}

function defaultSettings(rotation: boolean): Settings {
  return {
    sessionTimeoutMs: 2 * 3_600_000,
    rotation,
    duplicateRules: [],
    locks: [],
    bulkPolls: 1,
    bulkFailures: [],
    bulkLifeMs: 7 * 86_400_000,
    queryLocatorMs: 2 * 86_400_000,
    queryLocators: 200,
    bulkResultPage: 1_000_000,
    privateObjects: [],
  };
}
