export { holdToken } from './alone.ts';
export { heldAgeMs, holdRow, type Held } from './held.ts';
export { createKeeper, type Keeper } from './keeper.ts';
export { tokenRefreshes } from './refresher.ts';
