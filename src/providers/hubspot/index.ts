import type { Connector } from '../connector.ts';
import { currentFields } from './current-fields.ts';
import { describe } from './describe.ts';
import { failureOf } from './failure.ts';
import { read } from './read.ts';
import { readAssociations } from './read-associations.ts';
import { resolve } from './resolve.ts';
import { upsert } from './upsert.ts';
import { batchLimit, write } from './write.ts';

/** HubSpot, provider X of §4.2.3. facts.md says where HubSpot documents what this folder relies on. */
export const hubspot: Connector = {
  failureOf,
  write,
  batchLimit,
  partialOnly: ['update'],
  associations: true,
  currentFields,
  resolve,
  upsert,
  describe,
  read,
  readAssociations,
};
