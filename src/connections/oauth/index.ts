export { beginConnect, beginUpdate, openFlow, type FlowDeps, type Opened } from './begin.ts';
export { callbackRoutes } from './callback-routes.ts';
export { deadFlow, finishFlow, type FlowEnd } from './finish.ts';
export { sealedVerifiers } from './flow-store.ts';
export type { PageOwner } from './page.ts';
export type { CallbackQuery } from './redirect.ts';
export { stateLifeSeconds } from './state.ts';
