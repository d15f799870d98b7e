import type { Call, Ground, JsonObject, OAuth, AccessToken, Reply } from '../kit/index.ts';
import type { Refusal } from './errors.ts';
import { createLinkTypes } from './link-types.ts';
import { createLinks } from './links.ts';
import type { Links } from './links.ts';
import type { Limits } from './limits.ts';
import { standardPipelines } from './pipeline-data.ts';
import type { Owner, Pipeline } from './pipeline-data.ts';
import { createSchema, uniqueProperties } from './object-types.ts';
import type { Schema } from './object-types.ts';
import { createTable } from './store.ts';
import type { Table } from './store.ts';
import type { ObjectType, Property } from './types.ts';

/** Set through /__sim/settings. */
export type Settings = {
  /** How long a change stays invisible to search. */
  searchLagMs: number;
  /** A random extra delay for each change (seeded), so that changes reach the index out of order. */
  searchLagJitterMs: number;
  /** Search sees nothing new until this is false again. */
  freezeIndex: boolean;
  /** Batch results in random order (seeded). */
  shuffle: boolean;
  /** Batch results carry the objectWriteTraceId that was sent. */
  echoTraceId: boolean;
  enforceRequired: boolean;
  /** Accounts whose refresh answers BAD_HUB. */
  goneAccounts: string[];
  /** How long an access token is good. */
  accessLifeMs: number;
};

export const DEFAULT_SETTINGS: Settings = {
  searchLagMs: 0,
  searchLagJitterMs: 0,
  freezeIndex: false,
  shuffle: true,
  echoTraceId: true,
  enforceRequired: true,
  goneAccounts: [],
  accessLifeMs: 1_800_000,
};

/** Everything that is in the account; replaced as a whole by a reset. */
export type Portal = {
  schema: Schema;
  links: Links;
  pipelines: Map<string, Pipeline[]>;
  owners: Owner[];
  tables: Map<ObjectType, Table>;
  /** From which number records get their ids; 0 until the account is seeded. */
  madeFrom: number;
};

export type Hub = {
  ground: Ground;
  oauth: OAuth;
  limits: Limits;
  settings: Settings;
  portal: Portal;
  privateToken: string | undefined;
};

/** `list` is the body of the few calls that send an array. */
export type HubCall = { call: Call; body: JsonObject; list: unknown[]; access: AccessToken };
export type Handler = (hub: Hub, input: HubCall) => Reply | Refusal;

/** The account number of a token minted without choosing one. */
export const DEFAULT_PORTAL = '244001';

/** An account without records. */
export function createPortal(owners: Owner[]): Portal {
  const schema = createSchema();
  return {
    schema,
    links: createLinks(createLinkTypes(schema)),
    pipelines: standardPipelines(),
    owners,
    tables: new Map(),
    madeFrom: 0,
  };
}

/** The table of an object type, made on first use. */
export function tableOf(hub: Hub, type: ObjectType): Table {
  const { portal } = hub;
  const known = portal.tables.get(type);
  if (known) return known;
  const unique = uniqueProperties(type).map((one) => one.name);
  const indexing = {
    now: hub.ground.clock.now,
    lagMs: () => {
      const { searchLagMs, searchLagJitterMs } = hub.settings;
      return searchLagMs + (searchLagJitterMs > 0 ? hub.ground.random.int(searchLagJitterMs + 1) : 0);
    },
    frozen: () => hub.settings.freezeIndex,
  };
  const table = createTable(type, { unique, indexing, madeFrom: () => portal.madeFrom });
  portal.tables.set(type, table);
  return table;
}

/** Values of properties whose options live in owners and pipelines. */
export function externalOptions(hub: Hub): (type: ObjectType, property: Property) => string[] | undefined {
  return (type, property) => {
    if (property.referencedObjectType === 'OWNER') return hub.portal.owners.map((one) => one.id);
    const pipelines = hub.portal.pipelines.get(type.plural) ?? [];
    if (property.name === 'pipeline' || property.name === 'hs_pipeline')
      return pipelines.map((one) => one.id);
    if (property.name === 'dealstage' || property.name === 'hs_pipeline_stage') {
      return pipelines.flatMap((one) => one.stages.map((stage) => stage.id));
    }
    return undefined;
  };
}
