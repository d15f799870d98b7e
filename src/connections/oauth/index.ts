export { beginConnect, beginUpdate, openFlow, type FlowDeps, type Opened } from './begin.ts';
export { callbackRoutes } from './callback-routes.ts';
export { finishFlow, type FlowEnd } from './finish.ts';
export { sealedVerifiers } from './flow-store.ts';
export type { CallbackQuery } from './redirect.ts';
