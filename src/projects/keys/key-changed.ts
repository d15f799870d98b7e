import { beforeAndAfter } from '../../events/index.ts';

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
