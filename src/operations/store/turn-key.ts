import { hash } from 'node:crypto';

/** Under which a record takes its turn: of one size, whatever its provider calls it (`svc_turn_key`). */
export function turnKey(orderKey: string): string {
  return hash('sha256', orderKey, 'hex').slice(0, 32);
}
