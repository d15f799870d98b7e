import { describe, expect, it } from 'vitest';
import type { Connection } from '../../client/src/index.ts';
import { accountOf } from '../src/hooks/queries.ts';
import { keeperOf } from '../src/state/whose.ts';

const connection = (id: string, providerWorkspaceRef: string, isOver = false): Connection =>
  ({ id, providerWorkspaceRef, status: isOver ? 'bad_credentials' : 'working' }) as Connection;

describe('ui/embed/account', () => {
  it('takes the newest that works, unless another one was chosen', () => {
    const found = [connection('c3', 'bern', true), connection('c2', 'basel'), connection('c1', 'chur')];
    expect(accountOf(found, undefined)?.id).toBe('c2');
    expect(accountOf(found, 'c1')?.id).toBe('c1');
    expect(accountOf(found, 'gone')?.id).toBe('c2');
    expect(accountOf(found.slice(0, 1), undefined)?.id).toBe('c3');
    expect(accountOf([], 'c1')).toBeUndefined();
  });

  it('takes nothing that was set aside', () => {
    const aside: Connection = { ...connection('c2', 'bern', true), isAside: true };
    expect(accountOf([aside, connection('c1', 'bern', true)], undefined)?.id).toBe('c1');
    expect(accountOf([aside], undefined)).toBeUndefined();
  });

  it('puts in place of a chosen one that broke only another one of the same account', () => {
    const broken = connection('c1', 'chur', true);
    expect(accountOf([connection('c2', 'basel'), broken], 'c1')?.id).toBe('c1');
    expect(accountOf([connection('c2', 'basel'), connection('c3', 'chur'), broken], 'c1')?.id).toBe('c3');
  });

  it('goes along with what is uninstalled by its own person only', () => {
    const hers = { consumer: { consumerRef: 'u1', consumerName: 'Ada' } } as Connection;
    expect(keeperOf(hers, 'u1')).toBeUndefined();
    expect(keeperOf(hers, 'u2')).toBe('Ada');
    expect(keeperOf(undefined, 'u2')).toBeUndefined();
  });
});
