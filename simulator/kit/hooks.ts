import type { FaultTarget } from './faults.ts';
import { matchesRule } from './faults.ts';
import type { JsonObject } from './http.ts';

/**
 * A change that happens while somebody reads: when the `after`-th request that matches has been answered
 * with success, `data` is applied as if it was posted to /__sim/data, once.
 */
export type Hook = {
  id: string;
  method?: string;
  path?: string;
  object?: string;
  contains?: string;
  after: number;
  data: JsonObject[];
  /** Matching requests so far. */
  seen: number;
};

export type Hooks = {
  add: (input: JsonObject) => Hook;
  list: () => Hook[];
  clear: () => void;
  /** Counts an answered request and gives the changes that are due by it. */
  answered: (target: FaultTarget) => JsonObject[];
  readonly size: number;
};

export function createHooks(): Hooks {
  let hooks: Hook[] = [];
  let count = 0;
  function add(input: JsonObject): Hook {
    const after = input['after'];
    const data = input['data'];
    if (typeof after !== 'number' || !Number.isInteger(after) || after < 1)
      throw new Error('after must be a number of 1 or more: the request after which the data changes');
    if (!Array.isArray(data) || data.length === 0)
      throw new Error('data must be a list of bodies of /__sim/data');
    count += 1;
    const hook: Hook = { ...input, after, data: data as JsonObject[], id: `hook-${count}`, seen: 0 };
    hooks.push(hook);
    return hook;
  }
  function answered(target: FaultTarget): JsonObject[] {
    const due: JsonObject[] = [];
    for (const hook of hooks) {
      if (!matchesRule(hook, target)) continue;
      hook.seen += 1;
      if (hook.seen === hook.after) due.push(...hook.data);
    }
    hooks = hooks.filter((one) => one.seen < one.after);
    return due;
  }
  return {
    add,
    list: () => hooks,
    clear: () => {
      hooks = [];
    },
    answered,
    get size() {
      return hooks.length;
    },
  };
}
