import { describe, expect, test } from 'vitest';
import { DatabaseError } from 'pg';
import { array, assert, constantFrom, integer, option, property } from 'fast-check';
import type { HttpResult } from '../../../kit/http/client.ts';
import { connectorOf, type Connector } from '../../../providers/index.ts';
import { callsOf, executeWrite, splitCalls, type WriteJob } from './execute.ts';
import { inParts, mostWeight } from './weight.ts';

const job: WriteJob = { kind: 'update', objectName: 'companies', allOrNone: false, headers: [] };
const change = (id: string, name: string) => ({ id, fields: { name } });

/** HubSpot, answering the calls of a write in turn; tells the names that each carried. */
function answering(answers: HttpResult[]) {
  const sent: string[][] = [];
  const connector = connectorOf('hubspot') as Connector;
  const client = {
    send: (request: { body?: unknown }): Promise<HttpResult> => {
      const body = request.body as { inputs?: unknown[] };
      const inputs = (body.inputs ?? [body]) as { properties: { name: string } }[];
      sent.push(inputs.map(({ properties }) => properties.name));
      return Promise.resolve(answers.shift() ?? done(inputs));
    },
  };
  const failure = { category: 'internal', retryable: false, message: 'not described' } as const;
  const described = () => Promise.resolve({ failure });
  return {
    sent,
    context: { connector, client, mayStillSend: () => true, isRepeat: false, describe: described },
  };
}

function done(inputs: readonly object[]): HttpResult {
  const results = inputs.map((input, at) => ({ id: String(at), ...input }));
  const body = inputs.length > 1 ? { results } : results[0];
  return { answer: { status: 200, headers: {}, body: JSON.stringify(body) } };
}

describe('actions/write/execute', () => {
  test('splits by the provider’s limit, in order', () => {
    expect(splitCalls([0, 1, 2, 3, 4], () => undefined, 2)).toEqual([[0, 1], [2, 3], [4]]);
  });

  test('splits what is heavy, and sends alone what is heavier than a call', () => {
    const weights = [mostWeight / 2, mostWeight / 2, 1, mostWeight + 1, mostWeight - 1];
    const calls = splitCalls(
      [0, 1, 2, 3, 4],
      () => undefined,
      100,
      (slot) => weights[slot] ?? 0,
    );
    expect(calls).toEqual([[0, 1], [2, 4], [3]]);
    const parts = inParts([0, 1, 2, 3, 4], 100, (slot) => weights[slot] ?? 0);
    expect(parts).toEqual([[0, 1], [2], [3], [4]]);
  });

  test('of all or none there is one call, whatever it weighs', () => {
    const heavy = { fields: { note: 'x'.repeat(mostWeight) } };
    const records = new Map([heavy, heavy].entries());
    const calls = (allOrNone: boolean) =>
      callsOf({ ...job, kind: 'create', allOrNone }, records, answering([]).context.connector).length;
    expect([calls(false), calls(true)]).toEqual([2, 1]);
  });

  test.each(['XX000', '42501', '57014'])(
    'what the database refuses before a byte left is not applied, and may be tried again (%s)',
    async (code) => {
      const { context } = answering([]);
      const error = Object.assign(new DatabaseError('refused', 0, 'error'), { code });
      const client = { send: () => Promise.reject(error) };
      const [outcome] = await executeWrite(job, [change('1', 'a')], { ...context, client });
      expect(outcome).toMatchObject({
        kind: 'notApplied',
        failure: { category: 'internal', retryable: true },
      });
    },
  );

  test('an id that stands twice goes into a later call', () => {
    const ids = ['a', 'b', 'a', 'c', 'a'];
    expect(splitCalls([0, 1, 2, 3, 4], (slot) => ids[slot], 100)).toEqual([[0, 1, 3], [2], [4]]);
  });

  test('no call holds an id twice, none is over the limit, none is lost, and the order of each id is kept', () => {
    const ids = array(option(constantFrom('a', 'b', 'c'), { nil: undefined }), { maxLength: 60 });
    assert(
      property(ids, integer({ min: 1, max: 7 }), (all, limit) => {
        const calls = splitCalls([...all.keys()], (slot) => all[slot], limit);
        expect(calls.flat().sort((x, y) => x - y)).toEqual([...all.keys()]);
        for (const call of calls) {
          const named = call.map((slot) => all[slot]).filter((id) => id !== undefined);
          expect(new Set(named).size).toBe(named.length);
          expect(call.length).toBeLessThanOrEqual(limit);
        }
        for (const id of ['a', 'b', 'c']) {
          const sequence = calls.flat().filter((slot) => all[slot] === id);
          expect(sequence).toEqual(sequence.toSorted((x, y) => x - y));
        }
      }),
    );
  });

  test.each<[string, HttpResult]>([
    ['was lost', { fault: { kind: 'broken', sent: true, message: 'reset' } }],
    ['may be repeated', { answer: { status: 521, headers: {}, body: '{}' } }],
    ['may have been done', { answer: { status: 503, headers: {}, body: '{}' } }],
  ])('a change waits while an earlier one of its record %s; its neighbours go', async (_what, first) => {
    const { sent, context } = answering([first]);
    const records = [change('a', 'a1'), change('a', 'a2'), change('b', 'b1'), change('a', 'a3')];
    const outcomes = await executeWrite(job, records, context);
    expect(sent).toEqual([['a1', 'b1']]);
    expect(outcomes[1]).toMatchObject({ kind: 'notApplied', failure: { retryable: true } });
    expect(outcomes[3]).toMatchObject({ kind: 'notApplied', failure: { retryable: true } });
  });

  test('a change follows an earlier one of its record that was refused for good', async () => {
    const refusal = { status: 400, headers: {}, body: '{"category":"VALIDATION_ERROR","message":"no"}' };
    const { sent, context } = answering([{ answer: refusal }]);
    const outcomes = await executeWrite(job, [change('a', 'a1'), change('a', 'a2')], context);
    expect(sent).toEqual([['a1'], ['a2']]);
    expect(outcomes.map(({ kind }) => kind)).toEqual(['notApplied', 'applied']);
  });
});
