import { describe, expect, it } from 'vitest';
import type { Accepted } from './suite/callers.ts';
import type { Effect } from './suite/provider-ledger.ts';
import { judge, type Evidence, type RecordState, type Violations } from './suite/verdict.ts';

const update: Accepted = {
  operationId: 'second',
  markers: ['w1c1x1'],
  kind: 'update',
  object: 'companies',
  route: 'synchronous',
  keyed: false,
  target: { id: '7', order: 1 },
  claim: 'applied',
  hasKey: true,
  before: ['no answer'],
  since: 0,
  at: 1_000,
};
const effect: Effect = { marker: 'w1c1x1', kind: 'update', id: '7', filled: false };
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
function found(
  accepted: Accepted,
  records: RecordState[],
  effects = [effect],
  more: Partial<Evidence> = {},
): Partial<Violations> {
  return violationsOf({ accepted: [accepted], records, effects, ...more });
}

function violationsOf(
  evidence: Pick<Evidence, 'accepted' | 'records' | 'effects'> & Partial<Evidence>,
): Partial<Violations> {
  const { violations } = judge({
    givenUp: new Set(),
    lostAnswers: new Set(),
    asked: new Map(),
    disturbances: [],
    answerMs: 0,
    left: 0,
    ...evidence,
  });
  return Object.fromEntries(Object.entries(violations).filter(([, markers]) => markers.length > 0));
}

describe('judge', () => {
  it('finds lost what was accepted and is not there; of what was in doubt, only if it was done', () => {
    const inDoubt: Accepted = { ...update, claim: 'unknown', hasKey: false, isInDoubt: true };
    expect(found({ ...update, claim: 'unknown' }, [], [])).toEqual({ lost: ['w1c1x1'] });
    expect(found(inDoubt, [], [])).toEqual({});
    expect(found(inDoubt, [])).toMatchObject({ lost: ['w1c1x1'] });
  });

  it('accepts an operation that ended without effect before its unanswered request was repeated', () => {
    expect(found(update, [ended, applied])).toEqual({});
  });

  it('accepts no more such operations than requests without an answer', () => {
    expect(found({ ...update, before: [] }, [ended, applied])).toEqual({ duplicates: ['w1c1x1'] });
    expect(found(update, [ended, { ...ended, operationId: 'third' }, applied])).toEqual({
      duplicates: ['w1c1x1'],
    });
  });

  it.each(['applied', 'unknown', null] as const)('finds a second operation that ended as %s', (kind) => {
    expect(found(update, [{ ...ended, kind }, applied])).toMatchObject({ duplicates: ['w1c1x1'] });
  });

  it('accepts one of unknown outcome of a synchronous write without a key, which had no effect', () => {
    const unknown: RecordState = { ...ended, kind: 'unknown' };
    const create: Accepted = { ...update, kind: 'create', hasKey: false };
    const made: Effect = { ...effect, kind: 'create' };
    expect(found(create, [unknown, applied], [made], { disturbances: [{ from: 0, until: 10 }] })).toEqual({});
    const twice = { duplicates: ['w1c1x1'] };
    expect(found({ ...create, hasKey: true }, [unknown, applied], [made])).toMatchObject(twice);
    expect(found(create, [unknown, applied], [made, { ...made, id: '8' }])).toMatchObject(twice);
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

  it('finds what was done though it was refused, and its caller had given it up', () => {
    const givenUp = new Set(['w1c1x2']);
    const late = { ...effect, marker: 'w1c1x2' };
    expect(found(update, [applied], [effect, late], { givenUp })).toEqual({ falseRefusal: ['w1c1x2'] });
    expect(found(update, [applied], [effect], { givenUp })).toEqual({});
  });

  describe('explains an unknown outcome by a disturbance', () => {
    const unknown: RecordState = { ...ended, operationId: 'second', kind: 'unknown' };
    const open: Accepted = { ...update, claim: 'unknown', before: [], since: 80_000, at: 100_000 };
    const unexplained = { unexplained: ['w1c1x1'] };
    const after = (accepted: Accepted, from: number, more: Partial<Evidence> = {}): Partial<Violations> =>
      found(accepted, [unknown], [], {
        answerMs: 2_000,
        disturbances: [{ from, until: from + 10 }],
        ...more,
      });

    it('while its answer was awaited, neither before nor after', () => {
      const asked = new Map([['w1c1x1', { first: 99_000, last: 99_500 }]]);
      expect(after(open, 99_600, { asked })).toEqual({});
      expect(after(open, 98_000, { asked })).toEqual(unexplained);
      expect(after(open, 101_600, { asked })).toEqual(unexplained);
    });

    it('of what no provider was asked for, from its first request until its caller had the answer', () => {
      expect(after(open, 90_000)).toEqual({});
      expect(after(open, 79_000)).toEqual(unexplained);
      expect(after(open, 102_100)).toEqual(unexplained);
    });

    it('of what waited in a queue, as long as any write waited', () => {
      const queued: Accepted = { ...open, kind: 'create', route: 'queued' };
      const other: Accepted = { ...queued, operationId: 'other', markers: ['w2c1x1'] };
      const asked = new Map([['w2c1x1', { first: 107_000, last: 107_000 }]]);
      const done: RecordState = { ...applied, operationId: 'other', marker: 'w2c1x1' };
      const lately = (from: number): Partial<Violations> => {
        const effects = [{ ...effect, marker: 'w2c1x1' }];
        const records = [unknown, done];
        return after(queued, from, { accepted: [queued, other], asked, records, effects });
      };
      expect(lately(108_900)).toEqual({});
      expect(lately(109_100)).toEqual(unexplained);
    });
  });

  describe('of an unknown outcome', () => {
    const unknown: RecordState = { ...ended, operationId: 'second', kind: 'unknown' };
    const lost = { lostAnswers: new Set(['w1c1x1']) };
    const told = (change: Partial<Accepted>): Partial<Violations> => {
      const { claim: _, ...queued } = update;
      return found({ ...queued, before: [], ...change }, [unknown], [], lost);
    };
    const resolvable = { unknownResolvable: ['w1c1x1'] };

    it('finds what is found by a key, or repeated until it is known', () => {
      for (const route of ['queued', 'batch', 'autoBatch', 'synchronous'] as const) {
        expect(told({ kind: 'create', keyed: true, route })).toEqual(resolvable);
        expect(told({ kind: 'upsert', route })).toEqual(resolvable);
      }
      for (const route of ['queued', 'batch', 'autoBatch'] as const) {
        expect(told({ kind: 'update', route })).toEqual(resolvable);
        expect(told({ kind: 'delete', route })).toEqual(resolvable);
      }
    });

    it('takes that of what has no key, and of what is sent once', () => {
      expect(told({ kind: 'create', route: 'queued' })).toEqual({});
      expect(told({ kind: 'update', route: 'synchronous' })).toEqual({});
      expect(told({ kind: 'delete', route: 'synchronous' })).toEqual({});
    });
  });

  describe('of a success', () => {
    const once: Accepted = { ...update, before: [] };

    it('finds the one of what was not done, told by the ledger or to the caller', () => {
      expect(found(once, [applied], [])).toEqual({ falseSuccess: ['w1c1x1', 'w1c1x1'] });
      const failed: RecordState = { ...ended, operationId: 'second' };
      expect(found(once, [failed], [])).toEqual({ falseSuccess: ['w1c1x1'] });
      expect(found(once, [applied])).toEqual({});
    });

    it('finds the one with the id of another record, by whichever length the ids are told', () => {
      const id = '001000000000001AAA';
      const at = (recordId: string): Partial<Violations> =>
        found(once, [{ ...applied, recordId }], [{ ...effect, id }]);
      expect(at('001000000000002AAA')).toEqual({ falseSuccess: ['w1c1x1'] });
      expect(at(id)).toEqual({});
      expect(at(id.slice(0, 15))).toEqual({});
    });
  });

  it('finds what has not ended, and what is left in the queues', () => {
    const once: Accepted = { ...update, before: [] };
    expect(found(once, [{ ...applied, status: 'in_progress' }])).toEqual({ stuck: ['w1c1x1'] });
    const { claim: _, ...queued } = once;
    expect(found(queued, [{ ...applied, kind: null }])).toEqual({ stuck: ['w1c1x1'] });
    expect(found(once, [applied], [effect], { left: 2 })).toEqual({ stuck: ['work', 'work'] });
  });

  describe('of changes of one record', () => {
    const change = (order: number, id = '7'): { accepted: Accepted; state: RecordState; effect: Effect } => {
      const [marker, operationId] = [`w1c1x${order}of${id}`, `of ${id}, ${order}`];
      return {
        accepted: { ...update, operationId, markers: [marker], target: { id, order }, before: [] },
        state: { ...applied, operationId, marker, recordId: id },
        effect: { ...effect, marker, id },
      };
    };
    const told = (changes: ReturnType<typeof change>[], effects: Effect[]): Partial<Violations> =>
      violationsOf({
        accepted: changes.map(({ accepted }) => accepted),
        records: changes.map(({ state }) => state),
        effects,
      });
    const [first, second] = [change(1), change(2)];

    it('finds an earlier one after a later one, but not of another record', () => {
      expect(told([first, second], [second.effect, first.effect])).toEqual({
        outOfOrder: [first.effect.marker, first.effect.marker],
      });
      expect(told([first, second], [first.effect, second.effect])).toEqual({});
      const other = change(1, '8');
      expect(told([second, other, first], [first.effect, second.effect, other.effect])).toEqual({});
    });

    it('finds that the last does not stand, also where one operation repeats its changes', () => {
      const joined = { ...second, accepted: { ...second.accepted, operationId: first.accepted.operationId } };
      joined.state = { ...second.state, operationId: first.accepted.operationId };
      const [one, two] = [first.effect, second.effect];
      expect(told([first, joined], [one, two, one, two])).toEqual({});
      expect(told([first, joined], [one, two, one])).toEqual({ outOfOrder: [one.marker] });
    });

    it('finds a field written twice that was to be written where it is empty', () => {
      const filling = (one: typeof first): Effect => ({ ...one.effect, filled: true });
      expect(told([first, second], [filling(first), filling(second)])).toEqual({
        overwritten: [second.effect.marker],
      });
      expect(told([first, second], [filling(first), second.effect])).toEqual({});
      const other = change(1, '8');
      expect(told([first, other], [filling(first), filling(other)])).toEqual({});
    });
  });

  it('finds records of one fate with two, at the provider or in the ledger', () => {
    const markers = ['w1c1x1', 'w1c1x2'];
    const whole: Accepted = {
      ...update,
      markers,
      kind: 'create',
      route: 'batch',
      allOrNone: true,
      before: [],
    };
    const { claim: _, target: __, ...given } = whole;
    const made = markers.map((marker): Effect => Object.assign({}, effect, { marker, kind: 'create' }));
    const states = markers.map((marker): RecordState => Object.assign({}, applied, { marker }));
    const [done, other] = [states[0], states[1]] as [RecordState, RecordState];
    expect(found(given, states, made)).toEqual({});
    expect(found(given, states, made.slice(0, 1))).toEqual({ torn: ['w1c1x1'], falseSuccess: ['w1c1x2'] });
    const failed: RecordState = { ...other, kind: 'notApplied', status: 'failure', recordId: null };
    expect(found(given, [done, failed], made)).toEqual({ torn: ['w1c1x1'], falseFailure: ['w1c1x2'] });
    const { allOrNone: ___, ...apart } = given;
    expect(found(apart, [done, failed], made.slice(0, 1))).toEqual({});
  });
});
