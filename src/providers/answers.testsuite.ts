import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { HttpAnswer } from '../kit/http/client.ts';
import type { Connector, ObjectDescription, ProviderClient, ProviderRequest } from './connector.ts';
import type { Failure } from './failure.ts';
import { strangeBodies } from './spoil.fixture.ts';

/** What the tests need to know of the provider. */
export interface AnswersFixture {
  connector: Connector;
  /** A running provider with the simulator's control API. */
  url: string;
  objectName: string;
  /** A new record of the object, and its field whose value tells it from all others. */
  fields: Record<string, string>;
  unique: string;
  close(): Promise<void>;
}

/**
 * Tests that every connector must pass, against a running provider: an answer that the provider does not document is a failure,
 * and never fewer fields, values or records than there are.
 */
export function testAnswers(name: string, start: () => Promise<AnswersFixture>): void {
  describe(`src/providers/${name}/answers`, () => {
    let at: AnswersFixture;
    let client: ProviderClient;
    let object: ObjectDescription;
    let recordId: string;

    const asAnswer = (body: string): HttpAnswer => ({ status: 200, headers: {}, body });

    async function send({ method, path, headers, body }: ProviderRequest): Promise<HttpAnswer> {
      const response = await fetch(at.url + path, {
        method,
        headers: { ...(await authorization()), 'content-type': 'application/json', ...headers },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const answer = { status: response.status, headers: {}, body: await response.text() };
      if (!response.ok) throw new Error(`${path} was answered ${response.status}: ${answer.body}`);
      return answer;
    }
    async function authorization(): Promise<Record<string, string>> {
      const body = JSON.stringify({ action: 'issue' });
      const response = await fetch(`${at.url}/__sim/tokens`, { method: 'POST', body });
      const { accessToken } = (await response.json()) as { accessToken: string };
      return { authorization: `Bearer ${accessToken}` };
    }

    beforeAll(async () => {
      at = await start();
      client = { send: async (request) => ({ answer: await send(request) }) };
      const described = await at.connector.describe!.describe(client, at.objectName);
      if ('failure' in described) throw new Error(described.failure.message);
      ({ object } = described);
      const write = at.connector.write!;
      const records = [{ fields: at.fields }];
      const call = {
        kind: 'create',
        objectName: at.objectName,
        records,
        allOrNone: false,
        headers: [],
      } as const;
      const [outcome] = write.judge(call, await send(write.build(call)));
      if (outcome?.kind !== 'applied') throw new Error(JSON.stringify(outcome));
      recordId = outcome.recordId!;
    });
    afterAll(() => at.close());

    /** The strange answers that are taken for something else than a failure, or than the good one where what differs is not looked at. */
    async function believed(good: string, judge: (body: string) => unknown): Promise<string[]> {
      const understood = await judge(good);
      if (failureOf(understood)) throw new Error(JSON.stringify(understood));
      const taken: string[] = [];
      for (const strange of strangeBodies(good)) {
        const judged = await judge(strange);
        const { category, retryable, message = '' } = failureOf(judged) ?? {};
        const isRefused = category === 'providerDown' && retryable && /could not be understood/.test(message);
        if (!isRefused && !isDeepStrictEqual(judged, understood)) taken.push(strange);
      }
      return taken;
    }

    it('describes no object by them', async () => {
      const ability = at.connector.describe!;
      const asked = new Map<string, HttpAnswer>();
      const noting: ProviderClient = {
        async send(request) {
          const answer = await send(request);
          asked.set(request.path, answer);
          return { answer };
        },
      };
      await ability.describe(noting, at.objectName);
      for (const [path, { body }] of asked) {
        const fieldsIn = async (spoilt: string): Promise<unknown> => {
          const answers = new Map([...asked, [path, asAnswer(spoilt)]]);
          const answering = {
            send: async (request: ProviderRequest) => ({ answer: answers.get(request.path)! }),
          };
          const described = await ability.describe(answering, at.objectName);
          return 'failure' in described ? described : Object.keys(described.object.fields);
        };
        expect(await believed(body, fieldsIn)).toEqual([]);
      }
    });

    it('takes no values of a record from them, and no record for one that is not there', async () => {
      const { currentFields, resolve } = at.connector;
      const names = Object.keys(at.fields);
      const current = await send(currentFields!.build(at.objectName, [recordId], names));
      const present = (body: string): unknown => currentFields!.judge([recordId], names, asAnswer(body));
      expect(await believed(current.body, present)).toEqual([]);
      const values = [at.fields[at.unique]!];
      const standing = await send(resolve!.build(at.objectName, at.unique, values, names));
      const there = (body: string): unknown => resolve!.judge(at.unique, values, names, asAnswer(body));
      expect(await believed(standing.body, there)).toEqual([]);
    });

    it('reads and counts no records by them', async () => {
      const read = at.connector.read!;
      const query = {
        object,
        fields: Object.keys(at.fields),
        since: 0,
        until: Date.now() + 60_000,
        filters: [{ fieldName: at.unique, operator: 'eq', value: at.fields[at.unique] }],
        deleted: false,
      };
      const cursor = read.begin(query, false);
      const page = await send(read.build(query, cursor));
      const recordsIn = (body: string): unknown => {
        const judged = read.judge(query, cursor, [asAnswer(body)]);
        return 'page' in judged ? judged.page.records : judged;
      };
      expect(await believed(page.body, recordsIn)).toEqual([]);
      const count = await send(read.buildCount(query)!);
      expect(await believed(count.body, (body) => read.judgeCount(asAnswer(body)))).toEqual([]);
    });
  });
}

function failureOf(judged: unknown): Failure | undefined {
  return (judged as { failure?: Failure }).failure;
}
