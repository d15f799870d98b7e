import { beforeAndAfter } from '../../events/index.ts';
import { refuseGrant, refuseUnlessOperator, type Principal } from '../auth/principal.ts';
import type { ApiKey } from '../schema.ts';
import type { ApiKeyChange } from './api-key-store.ts';

interface Key {
  updateTime: string;
  lastUsedAt?: string;
}

/** What was changed of a key by hand. */
export function keyChanged(before: Key, after: Key): ReturnType<typeof beforeAndAfter> {
  const { updateTime: _then, lastUsedAt: _usedThen, ...was } = before;
  const { updateTime: _now, lastUsedAt: _used, ...is } = after;
  return beforeAndAfter(was, is);
}

/** Throws `forbidden` for a change that the caller may not make of this API key. */
export function refuseChange(principal: Principal, before: ApiKey, change: ApiKeyChange): void {
  refuseGrant(principal, change.scopes ?? [], before.groupRef, before.scopes);
  if (!onlyRevokes(before, change)) refuseUnlessOperator(principal, before.scopes);
}

/** Whether a change makes a key end, now or earlier than it would, and does nothing else. */
function onlyRevokes(
  { expiresAt: end }: ApiKey,
  { active, expiresAt, label, scopes }: ApiKeyChange,
): boolean {
  if (active === true || expiresAt === null || label !== undefined || scopes !== undefined) return false;
  return expiresAt === undefined || end === undefined || Date.parse(expiresAt) <= Date.parse(end);
}
