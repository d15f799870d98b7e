import { connectStates } from './connect-states.ts';
import { installStates } from './install-states.ts';
import type { State } from './state.ts';

/** Every state that a component can be in. */
export const states: readonly State[] = [...connectStates, ...installStates];
