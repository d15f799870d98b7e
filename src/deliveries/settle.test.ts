import { describe, expect, it } from 'vitest';
import { disablingEnds, type DeliveryEnd } from './settle.ts';

const end = (destinationId: string, changedAt: number | undefined): DeliveryEnd =>
  ({
    destinationId,
    disable:
      changedAt === undefined
        ? undefined
        : { reason: 'gone', failing: false, changedAt: new Date(changedAt) },
  }) as DeliveryEnd;

describe('deliveries/settle', () => {
  it('takes of each destination the newest state that asks, whatever was recorded last', () => {
    const [newest, older, other, none] = [end('one', 2), end('one', 1), end('two', 1), end('two', undefined)];
    expect(disablingEnds([newest, older, other, none])).toEqual([newest, other]);
  });
});
