import { Agent } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sendHttp } from '../kit/http/client.ts';
import type { Connector, ProviderClient, RecordOutcome, WriteCall, WriteRecord } from './connector.ts';

/** What the tests need to know of the provider. */
export interface UpsertFixture {
  connector: Connector;
  /** A running provider with the simulator's control API. */
  url: string;
  objectName: string;
  upsertBy: string;
  /** A field that is not unique; a text of its own is written to it. */
  label: string;
  /** What the provider refuses in a record. */
  bad: Record<string, unknown>;
  close(): Promise<void>;
}

/** Tests that every connector with the kind `upsert` must pass, against a running provider. */
export function testUpserts(name: string, start: () => Promise<UpsertFixture>): void {
  describe(`src/providers/${name}/upsert`, () => {
    const egress = new Agent();
    let at: UpsertFixture;
    let client: ProviderClient;
    let count = 0;

    beforeAll(async () => {
      at = await start();
      const response = await fetch(`${at.url}/__sim/tokens`, {
        method: 'POST',
        body: JSON.stringify({ action: 'issue' }),
      });
      const { accessToken } = (await response.json()) as { accessToken: string };
      const headers = { authorization: `Bearer ${accessToken}`, 'content-type': 'application/json' };
      client = {
        send: ({ method, path, headers: more, body }) =>
          sendHttp(
            egress,
            {
              method,
              url: at.url + path,
              headers: { ...headers, ...more },
              ...(body === undefined ? {} : { body: JSON.stringify(body) }),
            },
            { timeoutMs: 10_000 },
          ),
      };
    });
    afterAll(async () => {
      await egress.close();
      await at.close();
    });

    function keyed(text: string, key = `Key.${++count}@upsert.example`): WriteRecord & { key: string } {
      return { key, fields: { [at.upsertBy]: key, [at.label]: text } };
    }

    function callOf(records: WriteRecord[], allOrNone = false): WriteCall {
      return {
        kind: 'upsert',
        objectName: at.objectName,
        upsertBy: at.upsertBy,
        records,
        allOrNone,
        headers: [],
      };
    }

    async function write(call: WriteCall): Promise<RecordOutcome[]> {
      const ability = at.connector.write!;
      expect(ability.refusal(call)).toBeUndefined();
      const result = await client.send(ability.build(call));
      if ('fault' in result) throw new Error(result.fault.message);
      return ability.judge(call, result.answer);
    }

    it('creates what is not there, and updates what is', async () => {
      const email = `Key.${++count}@upsert.example`;
      for (const key of at.upsertBy === 'email' ? [email] : [email, `Key-${count}`]) {
        const [made] = await write(callOf([keyed('One', key)]));
        expect(made).toMatchObject({ kind: 'applied', recordId: expect.any(String), created: true });
        const { recordId } = made as { recordId: string };
        expect(await write(callOf([keyed('Two', key)]))).toMatchObject([
          { kind: 'applied', recordId, created: false },
        ]);
      }
    });

    it('tells the id of a record that is there, when nothing but its field is sent', async () => {
      const record = keyed('There');
      const [made] = await write(callOf([record]));
      const { key } = record;
      for (const allOrNone of [false, true])
        expect(await write(callOf([{ key, fields: { [at.upsertBy]: key } }], allOrNone))).toMatchObject([
          { kind: 'applied', recordId: (made as { recordId: string }).recordId, created: false },
        ]);
    });

    it('takes values that would not stand in a path', async () => {
      for (const key of ['a/b?c#d%e@upsert.example', '..', `O'Hara ${++count}@upsert.example`]) {
        if (at.upsertBy === 'email' && !/^\S+@/.test(key)) continue;
        const [outcome] = await write(callOf([keyed('Path', key)]));
        expect(outcome).toMatchObject({ kind: 'applied', created: true });
      }
    });

    it('takes a value that ends like a file, and writes no other record', async () => {
      const [other] = await write(callOf([keyed('Other', `ends${++count}@upsert.example`)]));
      for (const ending of ['.json', '.XML', '.inc']) {
        const record = keyed('Ends', `ends${count}@upsert.example${ending}`);
        const [made] = await write(callOf([record]));
        expect(made).toMatchObject({ kind: 'applied', created: true });
        const { recordId } = made as { recordId: string };
        expect(recordId).not.toBe((other as { recordId: string }).recordId);
        expect(await write(callOf([record]))).toMatchObject([{ kind: 'applied', recordId, created: false }]);
      }
    });

    it('tells the records of a batch apart, and which of them were there', async () => {
      const standing = keyed('There');
      const [before] = await write(callOf([standing]));
      const records = [
        keyed('A'),
        { ...standing, fields: { ...standing.fields, [at.label]: 'B' } },
        keyed('C'),
      ];
      const outcomes = await write(callOf(records));
      expect(outcomes).toMatchObject([
        { kind: 'applied', created: true },
        { kind: 'applied', created: false, recordId: (before as { recordId: string }).recordId },
        { kind: 'applied', created: true },
      ]);
      expect(new Set(outcomes.map((one) => (one as { recordId: string }).recordId)).size).toBe(3);
    });

    it('writes nothing of a batch with allOrNone when one record is bad', async () => {
      const good = keyed('Good');
      const bad = keyed('Bad');
      const records = [good, { ...bad, fields: { ...bad.fields, ...at.bad } }];
      const outcomes = await write(callOf(records, true));
      expect(outcomes.map(({ kind }) => kind)).toEqual(['notApplied', 'notApplied']);
      expect(await write(callOf([good]))).toMatchObject([{ created: true }]);
    });

    it('goes by fields that tell records apart, and by no others', async () => {
      const described = await at.connector.describe!.describe(client, at.objectName);
      if ('failure' in described) throw new Error(described.failure.message);
      const upsert = at.connector.upsert!;
      const own = upsert.identity(at.objectName, at.upsertBy.toUpperCase(), described.object);
      expect(own).toMatchObject({ field: { name: at.upsertBy, enforced: true } });
      const refused = upsert.identity(at.objectName, at.label, described.object);
      expect(refused).toMatchObject({ failure: { category: 'validation', retryable: false } });
      expect((refused as { failure: { message: string } }).failure.message).toContain(at.upsertBy);
    });

    it('refuses a record without a value before anything is built', () => {
      const ability = at.connector.write!;
      expect(ability.refusal(callOf([{ fields: {} }]))).toMatchObject({ category: 'validation' });
      const { upsertBy: _none, ...unnamed } = callOf([keyed('x')]);
      expect(ability.refusal(unnamed)).toMatchObject({ category: 'validation' });
    });
  });
}
