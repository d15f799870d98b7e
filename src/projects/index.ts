import './problems.ts';
import { authenticationMetrics } from './auth/failures.ts';
import { rateLimitMetrics } from './rate-limit/rate-limit.ts';

export { connectPageRoutes } from './embed/page-routes.ts';
export { eraseConnectLinks } from './embed/connect-link-store.ts';
export { sealedProjectColumns } from './provider-apps/provider-apps.ts';
export { actorHook, authenticationHook } from './auth/hook.ts';
export { reachingScopes, type Principal } from './auth/principal.ts';
export { bootstrap, createOperatorKey } from './bootstrap.ts';
export { providerCatalogueRoutes } from './catalogue-routes.ts';
export { withRetained, type RetainedObject } from './integrations/retained.ts';
export type { Absence } from './integrations/absences.ts';
export type { Integration } from './integrations/store.ts';
export { declaredObjects } from './manifest/declared.ts';
export { isFieldPath } from './manifest/rules/fields.ts';
export {
  associationScheduleMinutes,
  readScheduleMinutes,
  scheduleFault,
  scheduleGap,
} from './manifest/schedule.ts';
export { createProjects, type Projects } from './projects.ts';
export { projectRoutes } from './routes.ts';

/** What this room counts. */
export const projectMetrics = [...authenticationMetrics, ...rateLimitMetrics];
