import './problems.ts';
export {
  effectiveReadObject,
  effectiveReadObjectNamed,
  effectiveReadObjects,
  type EffectiveReadObject,
} from './effective-read.ts';
export { fieldsReadAsNamed } from './config/named-fields.ts';
export { ownNameOf } from './config/objects.ts';
export { effectiveWriteObject } from './effective-write.ts';
export { createInstallations, type Installations } from './installations.ts';
export { portableInstallations } from './portable-store.ts';
export { installationRoutes } from './routes.ts';
export { noInstallation, notInstalled } from './scope.ts';
export { recordOperationsEnd, type OperationsEnded } from './store.ts';
export { problemOfFailure } from './provider-problem.ts';
export { senderOf, toldInstallation, toldOf, type Sender } from './told-store.ts';
export type { Proposed, ProposedTarget } from './proposed.ts';
export { targetIn, type Target } from './targets.ts';
export { countUnhealthy, findInstallations } from './find-store.ts';
