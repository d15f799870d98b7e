import { describe, expect, it } from 'vitest';
import type { Accepted } from './suite/callers.ts';
import { judge, type RecordState, type Violations } from './suite/verdict.ts';

const update: Accepted = {
  operationId: 'second',
  markers: ['w1c1x1'],
  kind: 'update',
  object: 'companies',
  route: 'synchronous',
  keyed: false,
  target: { id: '7', order: 1 },
  claim: 'applied',
  unanswered: 1,
  at: 1_000,
};
const effect = { marker: 'w1c1x1', kind: 'update' as const, id: '7', filled: false };
const applied: RecordState = {
  operationId: 'second',
  marker: 'w1c1x1',
  status: 'success',
  kind: 'applied',
  recordId: '7',
  message: null,
};
const ended: RecordState = {
  ...applied,
  operationId: 'first',
  status: 'failure',
  kind: 'notApplied',
  recordId: null,
};

/** The violations that are found, with how many of each. */
function found(accepted: Accepted, records: RecordState[], effects = [effect]): Partial<Violations> {
  const { violations } = judge({
    accepted: [accepted],
    records,
    effects,
    lostAnswers: new Set(),
    asked: new Map(),
    disturbances: [],
    answerMs: 0,
    left: 0,
  });
  return Object.fromEntries(Object.entries(violations).filter(([, markers]) => markers.length > 0));
}

describe('judge', () => {
  it('accepts an operation that ended without effect before its unanswered request was repeated', () => {
    expect(found(update, [ended, applied])).toEqual({});
  });

  it('accepts no more such operations than requests without an answer', () => {
    expect(found({ ...update, unanswered: 0 }, [ended, applied])).toEqual({ duplicates: ['w1c1x1'] });
    expect(found(update, [ended, { ...ended, operationId: 'third' }, applied])).toEqual({
      duplicates: ['w1c1x1'],
    });
  });

  it.each(['applied', 'unknown', null] as const)('finds a second operation that ended as %s', (kind) => {
    expect(found(update, [{ ...ended, kind }, applied])).toMatchObject({ duplicates: ['w1c1x1'] });
  });

  it('finds the failure of what was done, of the only operation and of the one that the caller was told of', () => {
    const failed: RecordState = { ...ended, operationId: 'second' };
    const refused: Accepted = { ...update, claim: 'notApplied' };
    expect(found(refused, [failed])).toEqual({ falseFailure: ['w1c1x1', 'w1c1x1'] });
    expect(found(refused, [{ ...ended, operationId: 'first' }, failed])).toMatchObject({
      falseFailure: ['w1c1x1', 'w1c1x1'],
    });
    expect(found(refused, [failed], [])).toEqual({});
  });
});
