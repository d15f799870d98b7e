/** A body of up to so many bytes is a small one. */
const smallBytes = 64 * 1024;
const mebibyte = 1024 * 1024;

/** Whose body it is: of a caller who is known, or of anybody; or a copy of a proxied one, to repeat the call. */
export type Sender = 'known' | 'anybody' | 'proxied';

interface Pool {
  used: number;
  readonly most: number;
}

type Part = 'small' | 'large' | 'anybody' | 'proxied';
type Pools = Readonly<Record<Part, Pool>>;

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
 * A budget of bytes for the bodies that a process holds. Small ones, large ones, those of anybody and those of proxied calls have a part
 * each, so that none uses up that of another. One body has room in a part that is empty, however large it is.
 */
export function createBodyBudget(most: Readonly<Record<Part, number>>): BodyBudget {
  const pools: Pools = {
    small: { used: 0, most: most.small },
    large: { used: 0, most: most.large },
    anybody: { used: 0, most: most.anybody },
    proxied: { used: 0, most: most.proxied },
  };
  return {
    open: (sender) => new Share(pools, sender === 'known' ? pools.small : pools[sender]),
    used: () => Object.values(pools).reduce((sum, { used }) => sum + used, 0),
  };
}

class Share implements BodyShare {
  readonly #pools: Pools;
  #pool: Pool;
  #held = 0;

  constructor(pools: Pools, pool: Pool) {
    this.#pools = pools;
    this.#pool = pool;
  }

  take(bytes: number): boolean {
    const { small, large } = this.#pools;
    const wanted = this.#held + bytes;
    const next = this.#pool === small && wanted > smallBytes ? large : this.#pool;
    const before = next === this.#pool ? this.#held : 0;
    if (next.used > before && next.used - before + wanted > next.most) return false;
    this.#pool.used -= this.#held;
    next.used += wanted;
    this.#pool = next;
    this.#held = wanted;
    return true;
  }

  end(): void {
    this.#pool.used -= this.#held;
    this.#held = 0;
  }
}

/** Of this process (docs/operating.md, Memory). */
export const bodyBudget = createBodyBudget({
  small: 64 * mebibyte,
  large: 96 * mebibyte,
  anybody: 16 * mebibyte,
  proxied: 32 * mebibyte,
});
