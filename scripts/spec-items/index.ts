import type { SpecSection } from '../spec-coverage/item.ts';
import { authenticationSection, endpointSections } from './endpoints.ts';
import { errorsSection, limitsSection, versioningSection } from './errors-limits.ts';
import { contentSection, createBodySection } from './installation.ts';
import { manifestSection } from './manifest.ts';
import { operationRecordSection, statesSection } from './operations.ts';
import { readConfigSection } from './read-config.ts';
import { writeCallSections } from './write-call.ts';
import { writeConfigSection } from './write-config.ts';
import { writeRequestSection } from './write-request.ts';

const [createInstallation, ...otherEndpoints] = endpointSections;

/** The specification, in its own order. */
export const sections: SpecSection[] = [
  manifestSection,
  createBodySection,
  contentSection,
  readConfigSection,
  writeConfigSection,
  writeRequestSection,
  operationRecordSection,
  statesSection,
  ...(createInstallation ? [createInstallation] : []),
  ...writeCallSections,
  ...otherEndpoints,
  authenticationSection,
  errorsSection,
  limitsSection,
  versioningSection,
];
