export { sealedProjectColumns } from './apps/provider-apps.ts';
export { actorHook, authenticationHook } from './auth/hook.ts';
export { reachingScopes, type Principal } from './auth/principal.ts';
export { providerCatalogueRoutes } from './catalogue-routes.ts';
export type { Integration } from './integrations/store.ts';
export { isFieldPath } from './manifest/rules/fields.ts';
export { readScheduleMinutes, scheduleFault } from './manifest/schedule.ts';
export { createProjects, type Projects } from './projects.ts';
export { projectRoutes } from './routes.ts';
