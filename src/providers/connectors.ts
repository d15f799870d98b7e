import type { Connector, WriteKind } from './connector.ts';
import { hubspot } from './hubspot/index.ts';
import { salesforce } from './salesforce/index.ts';

const connectors = new Map<string, Connector>([
  ['hubspot', hubspot],
  ['salesforce', salesforce],
  ['salesforceJWT', salesforce],
]);

/** The connector of a provider; undefined when the provider is reached through the proxy only. */
export function connectorOf(provider: string): Connector | undefined {
  return connectors.get(provider);
}

/** A record's id in its one form, so that two requests for a record are seen to be for the same. */
export function canonicalIdOf(provider: string, id: string): string {
  return connectors.get(provider)?.canonicalId?.(id) ?? id;
}

/** Whether the name stands for a field in a record that is written to the provider. */
export function isFieldAt(provider: string, name: string): boolean {
  return !connectors.get(provider)?.otherMembers?.includes(name.toLowerCase());
}

/** In which forms a record may be known whose id was given so, at whichever provider it stands. */
export function formsOfId(id: string): string[] {
  const others = [...connectors.values()].flatMap((connector) => connector.idForms?.(id) ?? []);
  return [...new Set([id, ...others])];
}

/** The abilities of a provider besides the proxy, derived from its connector. */
export interface Abilities {
  write: readonly WriteKind[];
  batchWrite: boolean;
  /** Kinds of batch for which all or none cannot be had. */
  partialOnly: readonly WriteKind[];
  delete: boolean;
  /** Upserts whose fields depend on whether the record is there: it is looked up first. */
  lookUp: boolean;
  associations: boolean;
  forwardHeaders: boolean;
  ifEmpty: boolean;
  describe: boolean;
  read: boolean;
  /** What the records that are read are associated with. */
  readAssociations: boolean;
  /** The most records of one call; 1 without batch. */
  batchLimit: number;
}

/** The abilities of a provider, by its name; all absent for one without a connector, or for none. */
export function abilitiesOf(provider: string | undefined): Abilities {
  const connector = provider === undefined ? undefined : connectors.get(provider);
  const write = connector?.write?.kinds ?? [];
  return {
    write,
    batchWrite: connector?.batchLimit !== undefined,
    partialOnly: connector?.partialOnly ?? [],
    delete: write.includes('delete'),
    lookUp: connector?.resolve !== undefined,
    associations: connector?.associations ?? false,
    forwardHeaders: connector?.forwardHeaders ?? false,
    ifEmpty: connector?.currentFields !== undefined,
    describe: connector?.describe !== undefined,
    read: connector?.read !== undefined,
    readAssociations: connector?.readAssociations !== undefined,
    batchLimit: connector?.batchLimit ?? 1,
  };
}
