import './problems.ts';
import { authenticationMetrics } from './auth/failures.ts';
import { rateLimitMetrics } from './rate-limit/rate-limit.ts';

export { connectPageRoutes } from './embed/page-routes.ts';
export { eraseConnectLinks } from './embed/connect-link-store.ts';
export { sealedProjectColumns } from './provider-apps/provider-apps.ts';
export { actorHook, authenticationHook, readmissionHook, readmitCaller } from './auth/hook.ts';
export {
  reachingScopes,
  maySeeSecrets,
  requireSecrets,
  type Principal,
  type RouteScopes,
  type SignedInPerson,
} from './auth/principal.ts';
export type { Visit } from './auth/visit.ts';
export { partsOfGiven } from './keys/key-form.ts';
export { bootstrap, createOperatorKey, settleKept } from './bootstrap.ts';
export { providerCatalogueRoutes } from './catalogue-routes.ts';
export { withRetained, type RetainedObject } from './integrations/retained.ts';
export type { Absence } from './integrations/absences.ts';
export { mostShown, type Answer, type Question } from './integrations/impacts.ts';
export type { Installed } from './integrations/installed.ts';
export type { Integration } from './integrations/store.ts';
export { declaredObjects, type DeclaredField, type DeclaredObject } from './manifest/declared.ts';
export { isFieldPath } from './manifest/rules/fields.ts';
export {
  associationScheduleMinutes,
  readScheduleMinutes,
  scheduleFault,
  scheduleGap,
} from './manifest/schedule.ts';
export { createProjects, type Projects } from './projects.ts';
export { portableProject, revokeKeys } from './portable-store.ts';
export { projectRoutes } from './routes.ts';

/** What this room counts. */
export const projectMetrics = [...authenticationMetrics, ...rateLimitMetrics];
export { findInProject } from './find-store.ts';
