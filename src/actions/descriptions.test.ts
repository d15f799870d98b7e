import { describe, expect, test } from 'vitest';
import { problem } from '../kit/problem.ts';
import type { Connector, ProviderClient } from '../providers/index.ts';
import { createDescriptions, type Described } from './descriptions.ts';

const client: ProviderClient = { send: () => Promise.reject(new Error('nothing is sent here')) };
const failure = { category: 'providerDown' as const, retryable: true, message: 'down' };

const connection = (connectionId: string, projectId = 'p') => ({ projectId, connectionId });

/** A connector that gives one answer after the other, and counts how often it was asked. */
function connector(answers: (Described | Error)[]): { connector: Connector; asked: () => number } {
  let asked = 0;
  return {
    asked: () => asked,
    connector: {
      failureOf: () => failure,
      describe: {
        standard: [],
        names: () => Promise.resolve([]),
        describe: async (_client, name) => {
          const answer = answers[asked++] ?? { object: { name, displayName: '', fields: {} } };
          if (answer instanceof Error) throw answer;
          return Promise.resolve(answer);
        },
      },
    },
  };
}

describe('src/actions/write/descriptions', () => {
  test('one answer serves all who ask within ten minutes, for each connection and object', async () => {
    let now = 0;
    const descriptions = createDescriptions(() => now);
    const { connector: asks, asked } = connector([]);
    const all = ['c1', 'c1', 'c2'].map((id) => descriptions.of(connection(id), 'contacts', asks, client));
    expect(await Promise.all(all)).toHaveLength(3);
    expect(asked()).toBe(2);
    // An import gives another project connections of the same ids.
    await descriptions.of(connection('c1', 'imported'), 'contacts', asks, client);
    now = 9 * 60_000;
    await descriptions.of(connection('c1'), 'contacts', asks, client);
    expect(asked()).toBe(3);
    now = 11 * 60_000;
    await descriptions.of(connection('c1'), 'contacts', asks, client);
    expect(asked()).toBe(4);
  });

  test('who needs what is younger asks again for what is older, once for all', async () => {
    let now = 0;
    const descriptions = createDescriptions(() => now);
    const { connector: asks, asked } = connector([]);
    const ask = (youngerThanMs?: number): Promise<Described> =>
      descriptions.of(connection('c1'), 'contacts', asks, client, youngerThanMs);
    await ask();
    now = 4_999;
    await ask(5_000);
    expect(asked()).toBe(1);
    now = 5_000;
    await Promise.all([ask(5_000), ask(5_000)]);
    now = 9_999;
    await Promise.all([ask(5_000), ask()]);
    expect(asked()).toBe(2);
  });

  test('a failure is answered, and asked for again', async () => {
    const descriptions = createDescriptions(() => 0);
    const { connector: asks } = connector([{ failure }, problem('database-unavailable')]);
    const ask = (): Promise<Described> => descriptions.of(connection('c'), 'contacts', asks, client);
    expect(await ask()).toEqual({ failure });
    expect(await ask()).toMatchObject({ failure: { retryable: true } });
    expect(await ask()).toMatchObject({ object: { name: 'contacts' } });
  });

  test('what is known stays where who needs what is younger gets a failure', async () => {
    let now = 0;
    const descriptions = createDescriptions(() => now);
    const object = { name: 'contacts', displayName: 'Contacts', fields: {} };
    const { connector: asks, asked } = connector([{ object }, { failure }]);
    const ask = (youngerThanMs?: number): Promise<Described> =>
      descriptions.of(connection('c'), 'contacts', asks, client, youngerThanMs);
    await ask();
    now = 5_000;
    expect(await ask(5_000)).toEqual({ failure });
    expect([await ask(), asked()]).toEqual([{ object }, 2]);
  });

  test('what is known is answered while who needs what is younger still waits, and after that has failed', async () => {
    let now = 0;
    const descriptions = createDescriptions(() => now);
    const [first, second] = ['Contacts', 'People'].map((displayName) => ({
      object: { name: 'contacts', displayName, fields: {} },
    }));
    const { connector: asks, asked } = connector([first!, { failure }, second!]);
    const ask = (youngerThanMs?: number): Promise<Described> =>
      descriptions.of(connection('c'), 'contacts', asks, client, youngerThanMs);
    await ask();
    now = 5_000;
    const younger = [ask(5_000), ask(5_000)];
    expect([await ask(), ...(await Promise.all(younger))]).toEqual([first, { failure }, { failure }]);
    const again = ask(5_000);
    expect([await ask(), await again, await ask(), asked()]).toEqual([first, second, second, 3]);
    now += 600_000;
    expect([await ask(), asked()]).toMatchObject([{ object: { displayName: '' } }, 4]);
  });

  test('a provider that describes nothing is no failure of the moment', async () => {
    const asks: Connector = { failureOf: () => failure };
    expect(await createDescriptions().of(connection('c'), 'contacts', asks, client)).toMatchObject({
      failure: { retryable: false },
    });
  });
});
