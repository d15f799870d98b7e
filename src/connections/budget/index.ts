export { createBudget, type Budget, type Caller, type Closure } from './budget.ts';
export { openWindow } from './open.ts';
export { addToQuota, type Quota, type QuotaNames } from './rules.ts';
