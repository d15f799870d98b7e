import type { Connector } from '../connector.ts';
import { currentFields } from './current-fields.ts';
import { describe } from './describe.ts';
import { failureOf } from './failure.ts';
import { canonicalId, idForms } from './ids.ts';
import { faultOfField } from './paths.ts';
import { read } from './read.ts';
import { resolve } from './resolve.ts';
import { upsert } from './upsert.ts';
import { batchLimit, otherMembers, write } from './write.ts';

/** Salesforce, provider Y of §4.2.3. facts.md says where Salesforce documents what this folder relies on. */
export const salesforce: Connector = {
  failureOf,
  write,
  canonicalId,
  idForms,
  batchLimit,
  forwardHeaders: true,
  otherMembers,
  faultOfField,
  currentFields,
  resolve,
  upsert,
  describe,
  read,
};
