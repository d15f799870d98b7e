import { Agent } from 'undici';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { sendHttp, type HttpResult, type TransportFault } from '../kit/http/client.ts';
import type {
  Connector,
  ProviderClient,
  ProviderRequest,
  RecordOutcome,
  WriteCall,
  WriteRecord,
} from './connector.ts';
import { failureOfTransport } from './failure.ts';

/** What the tests need to know of the provider. */
export interface ConnectorFixture {
  connector: Connector;
  /** A running provider with the simulator's control API. */
  url: string;
  objectName: string;
  /** A new record; its `label` field holds the text. */
  record(text: string): WriteRecord;
  /** A record that the provider refuses. */
  badRecord: WriteRecord;
  label: string;
  /** A well-formed id that no record has. */
  missingId: string;
  /** Deleting a record that is deleted already, or never was. */
  deleteGone: 'applied' | 'notApplied';
  /** Part of the path of every write, for faults. */
  writePath: string;
  /** Statuses by which the provider says that the call did not reach it. */
  notReached: readonly number[];
  /** The provider's own answer that too many calls were made. */
  tooMany: { status: number; body: unknown };
  close(): Promise<void>;
}

/** Tests that every connector must pass, against a running provider. */
export function testConnector(name: string, start: () => Promise<ConnectorFixture>): void {
  describe(`src/providers/${name}/connector`, () => {
    const egress = new Agent();
    let at: ConnectorFixture;
    let client: ProviderClient;
    let count = 0;

    const control = async (
      method: string,
      path: string,
      body?: unknown,
    ): Promise<Record<string, unknown>> => {
      const response = await fetch(`${at.url}/__sim/${path}`, {
        method,
        ...(body ? { body: JSON.stringify(body) } : {}),
      });
      expect(response.status).toBe(200);
      return (await response.json()) as Record<string, unknown>;
    };
    const fault = (what: object): Promise<unknown> =>
      control('POST', 'faults', { path: at.writePath, fault: what });
    const effects = async (): Promise<number> =>
      ((await control('GET', 'effects'))['effects'] as unknown[]).length;

    function clientWith(token: string): ProviderClient {
      return {
        send: ({ method, path, headers, body }: ProviderRequest): Promise<HttpResult> =>
          sendHttp(
            egress,
            {
              method,
              url: at.url + path,
              headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
              ...(body === undefined ? {} : { body: JSON.stringify(body) }),
            },
            { timeoutMs: 10_000 },
          ),
      };
    }

    beforeAll(async () => {
      at = await start();
      const token = await control('POST', 'tokens', { action: 'issue' });
      client = clientWith(String(token['accessToken']));
    });
    beforeEach(async () => {
      await control('DELETE', 'faults');
    });
    afterAll(async () => {
      await egress.close();
      await at.close();
    });

    function callOf(
      kind: WriteCall['kind'],
      records: WriteRecord[],
      more: Partial<WriteCall> = {},
    ): WriteCall {
      return { kind, objectName: at.objectName, records, allOrNone: false, headers: [], ...more };
    }

    async function write(call: WriteCall, through = client): Promise<RecordOutcome[]> {
      const ability = at.connector.write!;
      expect(ability.refusal(call)).toBeUndefined();
      const result = await through.send(ability.build(call));
      if ('fault' in result) return call.records.map(() => lost(result.fault, call.kind));
      const outcomes = ability.judge(call, result.answer);
      expect(outcomes).toHaveLength(call.records.length);
      return outcomes;
    }

    function fresh(): WriteRecord {
      count += 1;
      return at.record(`Text ${count}`);
    }

    async function created(): Promise<string> {
      const [outcome] = await write(callOf('create', [fresh()]));
      return idOf(outcome);
    }

    async function labelsOf(ids: string[]): Promise<Map<string, unknown>> {
      const ability = at.connector.currentFields!;
      const result = await client.send(ability.build(at.objectName, ids, [at.label]));
      if ('fault' in result) throw new Error(result.fault.message);
      const read = ability.judge(ids, [at.label], result.answer);
      if ('failure' in read) throw new Error(read.failure.message);
      return new Map([...read.found].map(([id, fields]) => [id, fields[at.label]]));
    }

    it('creates a record and returns its id', async () => {
      const record = fresh();
      const [outcome] = await write(callOf('create', [record]));
      const id = idOf(outcome);
      expect((await labelsOf([id])).get(id)).toBe(record.fields[at.label]);
    });

    it('updates a record by its id', async () => {
      const id = await created();
      const [outcome] = await write(callOf('update', [{ id, fields: { [at.label]: 'Changed' } }]));
      expect(outcome).toMatchObject({ kind: 'applied', recordId: id });
      expect((await labelsOf([id])).get(id)).toBe('Changed');
    });

    it('says that a record to update is not there', async () => {
      const [outcome] = await write(
        callOf('update', [{ id: at.missingId, fields: { [at.label]: 'Changed' } }]),
      );
      expect(outcome).toMatchObject({
        kind: 'notApplied',
        failure: { category: 'notFound', retryable: false },
      });
    });

    it('deletes a record', async () => {
      const id = await created();
      expect(await write(callOf('delete', [{ id, fields: {} }]))).toEqual([
        { kind: 'applied', recordId: id },
      ]);
      expect((await labelsOf([id])).size).toBe(0);
      for (const gone of [id, at.missingId]) {
        const [outcome] = await write(callOf('delete', [{ id: gone, fields: {} }]));
        const failure = at.deleteGone === 'applied' ? {} : { failure: { category: 'notFound' } };
        expect(outcome).toMatchObject({ kind: at.deleteGone, ...failure });
      }
    });

    it('refuses a record for what it holds, with the words of the provider', async () => {
      const before = await effects();
      const [outcome] = await write(callOf('create', [at.badRecord]));
      expect(outcome).toMatchObject({
        kind: 'notApplied',
        failure: { category: 'validation', retryable: false },
      });
      expect(outcome).toHaveProperty('failure.provider.message', expect.stringMatching(/\w/));
      expect(await effects()).toBe(before);
    });

    it('tells the records of a batch apart, in the order of the call, when one of them is bad', async () => {
      const records = [
        ...Array.from({ length: 4 }, fresh),
        at.badRecord,
        ...Array.from({ length: 15 }, fresh),
      ];
      const outcomes = await write(callOf('create', records));
      expect(outcomes[4]).toMatchObject({
        kind: 'notApplied',
        failure: { category: 'validation', retryable: false },
      });
      const good = outcomes.filter((_outcome, index) => index !== 4);
      const labels = await labelsOf(good.map(idOf));
      expect(good.map((outcome) => labels.get(idOf(outcome)))).toEqual(
        records.filter((record) => record !== at.badRecord).map((record) => record.fields[at.label]),
      );
    });

    it('writes all of a batch with allOrNone, telling the records apart', async () => {
      const records = Array.from({ length: 20 }, fresh);
      const outcomes = await write(callOf('create', records, { allOrNone: true }));
      const labels = await labelsOf(outcomes.map(idOf));
      expect(outcomes.map((outcome) => labels.get(idOf(outcome)))).toEqual(
        records.map((record) => record.fields[at.label]),
      );
    });

    it('writes nothing of a batch with allOrNone when one record is bad', async () => {
      const before = await effects();
      const outcomes = await write(callOf('create', [fresh(), at.badRecord, fresh()], { allOrNone: true }));
      expect(outcomes.map((outcome) => outcome.kind)).toEqual(['notApplied', 'notApplied', 'notApplied']);
      expect(outcomes).toMatchObject([
        { failure: { retryable: false } },
        {},
        { failure: { retryable: false } },
      ]);
      expect(await effects()).toBe(before);
    });

    it('updates what it can of a batch', async () => {
      const ids = await Promise.all(Array.from({ length: 8 }, created));
      const records = ids.map((id, index) => ({ id, fields: { [at.label]: `New ${index}` } }));
      records.splice(3, 0, { id: at.missingId, fields: { [at.label]: 'Nobody' } });
      const outcomes = await write(callOf('update', records));
      expect(outcomes[3]).toMatchObject({ kind: 'notApplied', failure: { category: 'notFound' } });
      expect(outcomes.toSpliced(3, 1)).toMatchObject(ids.map((recordId) => ({ kind: 'applied', recordId })));
      const labels = await labelsOf(ids);
      expect(ids.map((id) => labels.get(id))).toEqual(ids.map((_id, index) => `New ${index}`));
    });

    it('does not know whether a create was done that was answered with a 5xx, a redirect, half a body or HTML', async () => {
      const faults = [
        ...[301, 302, 303, 304, 500, 501, 502, 503, 504, 505, 520, 522, 524].map((status) => ({
          kind: 'status',
          status,
          effect: true,
        })),
        { kind: 'reset-after' },
        { kind: 'truncate' },
        { kind: 'malformed' },
        { kind: 'html', status: 502 },
        { kind: 'html', status: 503 },
      ];
      for (const what of faults) {
        await fault(what);
        const [outcome] = await write(callOf('create', [fresh()]));
        expect({ what, outcome }).toMatchObject({
          what,
          outcome: { kind: 'unknown', failure: { category: 'unknownOutcome', retryable: false } },
        });
      }
    });

    it('knows that nothing was done where the same request is asked for elsewhere', async () => {
      for (const status of [307, 308]) {
        await fault({ kind: 'status', status });
        const [outcome] = await write(callOf('create', [fresh()]));
        expect([status, outcome]).toMatchObject([
          status,
          { kind: 'notApplied', failure: { category: 'providerDown', retryable: false } },
        ]);
      }
    });

    it('does not know what became of any record of a batch whose answer is broken', async () => {
      for (const what of [{ kind: 'status', status: 500 }, { kind: 'truncate' }, { kind: 'malformed' }]) {
        await fault(what);
        const outcomes = await write(callOf('create', [fresh(), fresh(), fresh()]));
        expect(outcomes.map((outcome) => outcome.kind)).toEqual(['unknown', 'unknown', 'unknown']);
      }
    });

    it('may repeat an update of unknown outcome', async () => {
      const id = await created();
      await fault({ kind: 'status', status: 500 });
      const [outcome] = await write(callOf('update', [{ id, fields: { [at.label]: 'Twice' } }]));
      expect(outcome).toMatchObject({ kind: 'unknown', failure: { retryable: true } });
    });

    it('knows that nothing was done where the provider documents that the call did not reach it, or had too many', async () => {
      for (const status of at.notReached) {
        await fault({ kind: 'status', status });
        const [away] = await write(callOf('create', [fresh()]));
        expect([status, away]).toMatchObject([
          status,
          { kind: 'notApplied', failure: { category: 'providerDown', retryable: true } },
        ]);
      }
      await fault({ kind: 'status', ...at.tooMany });
      const busy = await write(callOf('create', [fresh(), fresh()]));
      for (const outcome of busy) {
        expect(outcome).toMatchObject({
          kind: 'notApplied',
          failure: { category: 'rateLimit', retryable: true },
        });
        expect(outcome).toHaveProperty('failure.retryAfterMs', expect.any(Number));
      }
    });

    it('judges a token that is not accepted as auth', async () => {
      const [outcome] = await write(callOf('create', [fresh()]), clientWith('not-a-token-of-anyone'));
      expect(outcome).toMatchObject({
        kind: 'notApplied',
        failure: { category: 'auth', retryable: false, provider: { status: 401 } },
      });
    });

    it('refuses names and ids that would lead the path elsewhere', () => {
      const { write: ability } = at.connector;
      for (const objectName of [
        '',
        '..',
        '../contacts',
        'contacts/batch',
        'contacts?x=1',
        'contacts#',
        'a%2Fb',
        'a b',
        'é',
      ]) {
        const call = callOf('create', [fresh()], { objectName });
        expect({ objectName, refusal: ability?.refusal(call) }).toMatchObject({
          objectName,
          refusal: { category: 'validation', retryable: false },
        });
        expect(() => ability?.build(call)).toThrow(/not a path segment/);
      }
      for (const id of [undefined, '', '.', '..', '1/2', '1?x', '1#', '1%2F2']) {
        const record = { fields: {}, ...(id === undefined ? {} : { id }) };
        const refusals = (['update', 'delete'] as const).map(
          (kind) => ability?.refusal(callOf(kind, [record]))?.category,
        );
        expect({ id, refusals }).toEqual({ id, refusals: ['validation', 'validation'] });
      }
    });

    it('describes an object with its fields', async () => {
      const described = await at.connector.describe!.describe(client, at.objectName);
      expect(described).toMatchObject({ object: { displayName: expect.stringMatching(/^[A-Z]/) } });
      expect(described).toHaveProperty(
        `object.fields.${at.label}`,
        expect.objectContaining({ fieldName: at.label, valueType: 'string', readOnly: false }),
      );
    });

    it('lists the names of objects, of which it describes each', async () => {
      const names = await at.connector.describe!.names(client);
      expect(names).toContain(at.objectName);
      expect(names).not.toContain('nonsense');
    });

    it('says that an object is not there, described or written', async () => {
      for (const objectName of ['nonsense', '../contacts']) {
        const described = await at.connector.describe!.describe(client, objectName);
        expect(described).toMatchObject({ failure: { retryable: false } });
      }
      expect(await at.connector.describe!.describe(client, 'nonsense')).toMatchObject({
        failure: { category: 'notFound' },
      });
      const [outcome] = await write(callOf('create', [fresh()], { objectName: 'nonsense' }));
      expect(outcome).toMatchObject({ kind: 'notApplied', failure: { category: 'notFound' } });
    });

    it('leaves out of the current fields what is not there, and spells names as they were asked for', async () => {
      const id = await created();
      const ability = at.connector.currentFields!;
      const asked = at.label.toUpperCase();
      const result = await client.send(ability.build(at.objectName, [at.missingId, id], [at.label]));
      if ('fault' in result) throw new Error(result.fault.message);
      const read = ability.judge([at.missingId, id], [asked], result.answer);
      expect('found' in read && read.found).toEqual(new Map([[id, { [asked]: `Text ${count}` }]]));
    });

    it('takes an absent value and null for empty, but not false and 0', () => {
      const { currentFields } = at.connector;
      expect([undefined, null].map((value) => currentFields?.isEmpty(value))).toEqual([true, true]);
      expect([false, 0, 'false', '0', 'x'].map((value) => currentFields?.isEmpty(value))).toEqual(
        Array(5).fill(false),
      );
    });
  });
}

function lost(fault: TransportFault, kind: WriteCall['kind']): RecordOutcome {
  const { failure, applied } = failureOfTransport(fault, kind !== 'create');
  return { kind: applied === 'no' ? 'notApplied' : 'unknown', failure };
}

function idOf(outcome: RecordOutcome | undefined): string {
  if (outcome?.kind !== 'applied' || outcome.recordId === undefined)
    throw new Error(`not applied: ${JSON.stringify(outcome)}`);
  return outcome.recordId;
}
