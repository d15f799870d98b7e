import * as fc from 'fast-check';
import { Agent } from 'undici';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { sendHttp, type HttpAnswer } from '../kit/http/client.ts';
import type {
  Connector,
  ObjectDescription,
  ProviderClient,
  ProviderRequest,
  ReadAbility,
  ReadFilter,
  ReadQuery,
  ReadRecord,
} from './connector.ts';
import type { Failure } from './failure.ts';
import { sampleRead } from './sample.ts';
import { spoil } from './spoil.fixture.ts';

type Body = Record<string, unknown>;

/** What the tests of a connector's reads need to know of its provider. */
export interface ReadFixture {
  connector: Connector;
  /** A running provider with the simulator's control API and no records of the object. */
  url: string;
  objectName: string;
  /** A text field of the object. */
  label: string;
  /** No limits of calls. */
  quotas: Body;
  /** Bodies for the simulator: new records with a time of change, and changes of those that there are. */
  creates(texts: readonly string[], changedAt: string): Body;
  edits(ids: readonly string[], text: string): Body;
  deletes(ids: readonly string[]): Body;
  /** The same change, which shows only after a while: what is posted to the simulator, by path. */
  late(change: Body, ms: number): [path: string, body: Body][];
  /** A body for the simulator that adds text fields to the object. */
  addFields(names: readonly string[]): Body;
  withValues(id: string, values: Record<string, string>): Body;
  /** Names of fields are made so long. */
  nameOf(index: number): string;
  /** A request that answers a page. */
  page: { path: string };
  stored(row: Body): { id: string; text: unknown; deleted: boolean };
  /** What is posted to the simulator before each test, by path. */
  prepare?: [path: string, body: Body][];
  close(): Promise<void>;
}

const old = ['2025-01-01T00:00:00.000Z', '2025-01-01T00:00:01.000Z', '2025-03-01T12:00:00.000Z'];

/** What an object may lack at its provider: an index that is searched and counts, fields that are added. */
export type Lacking = 'search' | 'addedFields';

/** Tests that every reading connector must pass, against a running provider. */
export function testReads(
  name: string,
  start: () => Promise<ReadFixture>,
  lacking: readonly Lacking[] = [],
): void {
  const [hasSearch, hasAddedFields] = [!lacking.includes('search'), !lacking.includes('addedFields')];
  describe(`src/providers/${name}`, () => {
    const egress = new Agent();
    let at: ReadFixture;
    let ability: ReadAbility;
    let client: ProviderClient;
    let object: ObjectDescription;

    const control = async (method: string, path: string, body?: Body): Promise<Body> => {
      const response = await fetch(`${at.url}/__sim/${path}`, {
        method,
        ...(body ? { body: JSON.stringify(body) } : {}),
      });
      const answer = (await response.json()) as Body;
      expect({ status: response.status, answer }).toMatchObject({ status: 200 });
      return answer;
    };
    const change = async (body: Body): Promise<string[]> =>
      (await control('POST', 'data', body))['ids'] as string[];
    const now = async (): Promise<number> => Date.parse(String((await control('GET', 'health'))['now']));
    const advance = (ms: number): Promise<Body> => control('POST', 'clock', { advanceMs: ms });
    const stored = async (): Promise<ReturnType<ReadFixture['stored']>[]> =>
      ((await control('GET', `data/${at.objectName}`))['records'] as Body[]).map((row) => at.stored(row));

    const queryOf = (more: Partial<ReadQuery>): ReadQuery => ({
      object,
      fields: [at.label],
      until: 0,
      filters: [],
      deleted: false,
      ...more,
    });

    async function send(request: ProviderRequest): Promise<HttpAnswer> {
      const result = await client.send(request);
      if ('fault' in result) throw new Error(`${request.path.slice(0, 200)}: ${result.fault.message}`);
      return result.answer;
    }

    /** Reads to the end as a reader does, which keeps nothing but the cursor. */
    async function readAll(query: ReadQuery, large = false): Promise<ReadRecord[][]> {
      expect(ability.refusal(query)).toBeUndefined();
      const pages: ReadRecord[][] = [];
      let cursor: string | undefined = ability.begin(query, large);
      while (cursor !== undefined) {
        const answers = [await send(ability.build(query, cursor))];
        let judged = ability.judge(query, cursor, answers);
        if ('ask' in judged) {
          for (const request of judged.ask) answers.push(await send(request));
          judged = ability.judge(query, cursor, answers);
        }
        if (!('page' in judged)) throw new Error(JSON.stringify(judged));
        pages.push(judged.page.records);
        expect(judged.page.records.length).toBeLessThanOrEqual(query.limit ?? Infinity);
        cursor = judged.page.next;
      }
      return pages;
    }
    const records = async (query: ReadQuery, large = false): Promise<ReadRecord[]> =>
      (await readAll(query, large)).flat();

    async function describeObject(): Promise<ObjectDescription> {
      const described = await at.connector.describe!.describe(client, at.objectName);
      if ('failure' in described) throw new Error(described.failure.message);
      return described.object;
    }

    beforeAll(async () => {
      at = await start();
      ability = at.connector.read!;
    });
    beforeEach(async () => {
      await control('POST', 'reset', {});
      await control('POST', 'quotas', at.quotas);
      for (const [path, body] of at.prepare ?? []) await control('POST', path, body);
      const token = String((await control('POST', 'tokens', { action: 'issue' }))['accessToken']);
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
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
            { timeoutMs: 30_000 },
          ),
      };
      object = await describeObject();
    });
    afterAll(async () => {
      await egress.close();
      await at.close();
    });

    /** So many records that share three times of change. */
    async function seed(count: number): Promise<string[]> {
      const ids: string[] = [];
      for (const [index, changedAt] of old.entries()) {
        const share = Math.ceil(count / old.length);
        const texts = Array.from(
          { length: Math.min(share, count - ids.length) },
          (_text, i) => `Old ${index} ${i}`,
        );
        ids.push(...(await change(at.creates(texts, changedAt))));
      }
      return ids;
    }

    it.each([
      ['changed since', { since: Date.parse(old[0]!) - 1 }, false],
      ['all', {}, false],
      ['all, in the way for many', { limit: 2_000 }, true],
    ])(
      'reads each version of 10,500 records once (%s), whatever is edited, deleted and made while it pages',
      async (_what, from, large) => {
        const ids = await seed(10_500);
        const began = Math.floor((await now()) / 1_000) * 1_000;
        await advance(2_000);
        const some = (remainder: number): string[] => ids.filter((_id, index) => index % 70 === remainder);
        for (const after of [1, 2, 4]) {
          const data = [
            at.edits(some(after), `Edited ${after}`),
            at.deletes(some(after + 10)),
            at.creates([`New ${after} a`, `New ${after} b`], new Date(began + 2_000).toISOString()),
          ];
          await control('POST', 'hooks', { ...at.page, after, data });
        }
        const first = await records(queryOf({ ...from, until: began }), large);
        expect((await control('GET', 'hooks'))['hooks']).toEqual([]);
        await advance(2_000);
        const until = await now();
        const second = await records(queryOf({ since: began, until }), large);
        const gone = await records(queryOf({ since: began, until, deleted: true }), large);

        const versions = [...first, ...second].map(({ id, version }) => `${id} ${version}`);
        expect(new Set(versions).size).toBe(versions.length);
        const seen = new Map([...first, ...second].map(({ id, fields }) => [id, fields[at.label]]));
        const standing = (await stored()).filter(({ deleted }) => !deleted);
        expect(standing.filter(({ id, text }) => seen.get(id) !== text)).toEqual([]);
        expect(standing.length).toBe(10_500 - 450 + 6);
        expect(gone.map(({ id }) => id).toSorted()).toEqual([11, 12, 14].flatMap(some).toSorted());
        expect(second.map(({ id }) => id).filter((id) => gone.some((one) => one.id === id))).toEqual([]);
      },
      120_000,
    );

    it.runIf(hasSearch)('reads a change that shows late by looking back', async () => {
      const ids = await seed(30);
      await advance(2_000);
      const before = await now();
      for (const [path, body] of at.late(at.edits([ids[3]!], 'Late'), ability.lagMs))
        await control('POST', path, body);
      await advance(2_000);
      const until = await now();
      expect(await records(queryOf({ since: before - 1_000, until }))).toEqual([]);
      await advance(ability.lagMs);
      const next = await records(queryOf({ since: until - ability.lagMs, until: await now() }));
      expect(next.map(({ id, fields }) => [id, fields[at.label]])).toEqual([[ids[3], 'Late']]);
    });

    it('takes the time before as exclusive and the time until as inclusive', async () => {
      const ids = await seed(9);
      const [one, two, three] = old.map((time) => Date.parse(time));
      const found = async (since: number, until: number): Promise<string[]> =>
        (await records(queryOf({ since, until }))).map(({ id }) => id);
      expect(await found(one!, two!)).toEqual(ids.slice(3, 6));
      expect(await found(one! - 1_000, two!)).toEqual(ids.slice(0, 6));
      expect(await found(one!, two! - 1)).toEqual([]);
      expect(await found(two!, three!)).toEqual(ids.slice(6));
    });

    it('reads the same records in the way for many as in the way for few, in pages as small as it is told', async () => {
      const ids = await seed(40);
      await change(at.edits([ids[0]!], 'With "quotes", commas\nand lines'));
      await advance(2_000);
      const query = queryOf({ since: 0, until: await now(), limit: 7 });
      const [few, many] = [await records(query), await records(query, true)];
      expect(few.map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
      const byId = (list: ReadRecord[]): ReadRecord[] => list.toSorted((a, b) => (a.id < b.id ? -1 : 1));
      expect(byId(many)).toEqual(byId(few));
      expect(JSON.stringify(byId(many)[0]?.raw)).toBe(JSON.stringify(byId(few)[0]?.raw));
    });

    it.runIf(hasAddedFields)(
      'reads more fields than a request can name, of what stands and of what does not any more',
      async () => {
        const ids = await seed(450);
        const names = Array.from({ length: 300 }, (_name, index) => at.nameOf(index));
        await control('POST', 'schema', at.addFields(names));
        const values = Object.fromEntries(names.map((field) => [field, `of ${field}`]));
        await change(at.withValues(ids[200]!, values));
        await change(at.deletes([ids[5]!]));
        await advance(2_000);
        const wide = { object: await describeObject(), fields: [at.label, ...names, 'vanished__c'] };
        const until = await now();
        for (const from of [{ since: 0 }, {}]) {
          const read = await records(queryOf({ ...wide, ...from, until }));
          expect(read.map(({ id }) => id).toSorted()).toEqual(ids.filter((id) => id !== ids[5]).toSorted());
          expect(read.find(({ id }) => id === ids[200])?.fields).toMatchObject(values);
        }
        const gone = await records(queryOf({ ...wide, until, deleted: true }));
        expect(gone.map(({ id }) => id)).toEqual([ids[5]]);
      },
    );

    it('filters by fields, and refuses what it cannot filter by', async () => {
      const ids = await seed(20);
      await change(at.edits([ids[4]!, ids[9]!], "O'Neil \\ Sons"));
      await advance(2_000);
      const query = queryOf({ until: await now() });
      const filter = { fieldName: at.label.toUpperCase(), operator: 'eq', value: "O'Neil \\ Sons" };
      const found = await records({ ...query, filters: [filter] });
      expect(found.map(({ id }) => id)).toEqual([ids[4], ids[9]]);
      const refused = (more: object): unknown =>
        ability.refusal({ ...query, filters: [{ ...filter, ...more }] });
      expect(refused({ fieldName: 'nosuch' })).toMatchObject({
        category: 'validation',
        retryable: false,
        message: expect.stringMatching(/has no field "nosuch"/),
      });
      expect(refused({ operator: 'gt' })).toMatchObject({ message: expect.stringMatching(/operator "gt"/) });
      for (const value of [null, {}, [], undefined]) {
        expect(refused({ value })).toMatchObject({ message: expect.stringMatching(/needs a text/) });
      }
      expect(ability.refusal({ ...query, since: query.until + 1 })).toMatchObject({ category: 'validation' });
      expect(ability.refusal({ ...query, object: { ...object, name: '../x' } })).toMatchObject({
        category: 'validation',
      });
    });

    it.runIf(hasSearch)('refuses a filter that no request has room for', async () => {
      const filter = { fieldName: at.label, operator: 'eq', value: 'x'.repeat(10_000) };
      expect(ability.refusal(queryOf({ until: await now(), filters: [filter] }))).toMatchObject({
        category: 'validation',
        message: expect.stringMatching(/longer/),
      });
    });

    it.runIf(hasAddedFields)('samples more fields than a request can name', async () => {
      await seed(4);
      const names = Array.from({ length: 300 }, (_name, index) => at.nameOf(index));
      await control('POST', 'schema', at.addFields(names));
      const wide = await describeObject();
      expect(await sampleRead(ability, client, { object: wide, fields: names, filters: [] })).toBeUndefined();
    });

    it('samples an object by one record, and leaves out a field that does not exist', async () => {
      await seed(4);
      const filter = { fieldName: at.label, operator: 'eq', value: 'x' };
      const sample = (fields: string[], filters: ReadFilter[] = []): Promise<Failure | undefined> =>
        sampleRead(ability, client, { object, fields, filters });
      expect(await sample(['id', at.label.toUpperCase()])).toBeUndefined();
      expect(await sample([at.label], [filter])).toBeUndefined();
      const refusal = (text: string): object => ({
        category: 'validation',
        retryable: false,
        message: expect.stringContaining(text),
      });
      expect(await sample([at.label, 'nosuchfield'])).toBeUndefined();
      expect(await sample([], [{ ...filter, operator: 'like' }])).toMatchObject(refusal('"like"'));
      const body = { message: 'No' };
      await control('POST', 'faults', { ...at.page, fault: { kind: 'status', status: 400, body } });
      expect(await sample([at.label])).toMatchObject({ category: 'validation', provider: { status: 400 } });
      await control('POST', 'faults', { ...at.page, fault: { kind: 'reset-after' } });
      expect(await sample([at.label])).toMatchObject({ category: 'providerDown', retryable: true });
    });

    it.runIf(hasSearch)('counts what a read would read', async () => {
      await seed(30);
      const query = queryOf({ since: Date.parse(old[0]!), until: Date.parse(old[1]!) });
      const request = ability.buildCount(query);
      expect(request && ability.judgeCount(await send(request))).toEqual({ count: 10 });
      for (const body of ['', '{}', '{"total":"1","totalSize":null}', '{"total":-1,"totalSize":1.5}', '[]']) {
        const judged = ability.judgeCount({ status: 200, headers: {}, body });
        expect(judged).toMatchObject({ failure: { category: 'providerDown', retryable: true } });
      }
    });

    it('judges any answer as a page or a failure, and throws at none', async () => {
      await seed(6);
      const query = queryOf({ since: 0, until: await now() });
      const hostile = new Set<string>();
      for (const large of [false, true]) {
        let cursor: string | undefined = ability.begin(query, large);
        while (cursor !== undefined) {
          const good = await send(ability.build(query, cursor));
          for (const said of judgeHostile(query, cursor, good)) hostile.add(said);
          const judged = ability.judge(query, cursor, [good]);
          if (!('page' in judged)) throw new Error(JSON.stringify(judged));
          cursor = judged.page.next;
        }
      }
      const categories = [
        'validation',
        'permission',
        'auth',
        'notFound',
        'conflict',
        'rateLimit',
        'providerDown',
      ];
      expect([...hostile].filter((said) => !['page', ...categories].includes(said))).toEqual([]);
      expect(hostile.size).toBeGreaterThan(4);
    }, 60_000);

    /** What became of answers that differ from a good one at some place, and of such as no provider gives. */
    function judgeHostile(query: ReadQuery, cursor: string, good: HttpAnswer): string[] {
      const strange = fc.oneof(
        fc.jsonValue({ maxDepth: 2 }),
        fc.constantFrom(null, '', -1, 1e300, '__proto__', 'x'.repeat(5_000), {}, []),
      );
      const bodies = fc.oneof(
        fc
          .tuple(fc.array(fc.nat(20), { maxLength: 6 }), strange)
          .map(([path, value]) => spoil(good.body, path, value)),
        fc.jsonValue().map((value) => JSON.stringify(value)),
        fc.string(),
        fc.nat(good.body.length).map((end) => good.body.slice(0, end)),
      );
      const statuses = [200, 200, 200, 201, 204, 207, 301, 400, 401, 403, 404, 414, 429, 500, 503];
      const answers = fc.record({
        status: fc.constantFrom(...statuses),
        headers: fc.constantFrom(good.headers, {}, { 'sforce-locator': '', 'sforce-numberofrecords': 'x' }),
        body: bodies,
      });
      return fc.sample(answers, 300).map((answer) => {
        const judged = ability.judge(query, cursor, [answer]);
        if ('failure' in judged) return judged.failure.category;
        if (!('page' in judged)) return 'ask';
        const { records: read, next } = judged.page;
        if (next !== undefined) ability.build(query, next);
        return read.every(({ id, version }) => /^\w+ \S+$/.test(`${id} ${version}`)) ? 'page' : 'no record';
      });
    }
  });
}
