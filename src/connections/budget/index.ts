export { createBudget, type Budget, type Closure } from './budget.ts';
export { addToQuota, type Quota, type QuotaNames } from './rules.ts';
