/** A body of up to so many bytes is a small one. */
const smallBytes = 64 * 1024;
const mebibyte = 1024 * 1024;

/** Whose body it is: of a caller who is known, or of anybody. */
export type Sender = 'known' | 'anybody';

interface Pool {
  used: number;
  readonly most: number;
}

/** What one body holds of the budget. It is given back whatever becomes of the request. */
export interface BodyShare {
  /** False when there is no room for so many bytes more: they are not counted then. */
  take(bytes: number): boolean;
  /** Gives back all of it; again, nothing. */
  end(): void;
}

export interface BodyBudget {
  open(sender: Sender): BodyShare;
  /** Bytes that are taken now. */
  used(): number;
}

/**
 * A budget of bytes for the bodies that a process holds. Small ones, large ones and those of anybody have a part each, so that none
 * uses up that of another. One body has room in a part that is empty, however large it is.
 */
export function createBodyBudget(most: Readonly<Record<'small' | 'large' | 'anybody', number>>): BodyBudget {
  const small: Pool = { used: 0, most: most.small };
  const large: Pool = { used: 0, most: most.large };
  const anybody: Pool = { used: 0, most: most.anybody };
  return {
    open(sender) {
      let pool = sender === 'anybody' ? anybody : small;
      let held = 0;
      return {
        take(bytes) {
          const wanted = held + bytes;
          const next = pool === small && wanted > smallBytes ? large : pool;
          const before = next === pool ? held : 0;
          if (next.used > before && next.used - before + wanted > next.most) return false;
          pool.used -= held;
          next.used += wanted;
          pool = next;
          held = wanted;
          return true;
        },
        end() {
          pool.used -= held;
          held = 0;
        },
      };
    },
    used: () => small.used + large.used + anybody.used,
  };
}

/** Of this process (docs/operating.md, Memory). */
export const bodyBudget = createBodyBudget({
  small: 64 * mebibyte,
  large: 128 * mebibyte,
  anybody: 16 * mebibyte,
});
