export { createBudget, type Budget, type Caller, type Closure } from './budget.ts';
export { addToQuota, type Quota, type QuotaNames } from './rules.ts';
export { openWindow } from './store.ts';
