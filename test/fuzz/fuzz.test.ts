import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../database.ts';
import { startPlatform, type Answer, type Platform } from '../platform.ts';
import { broken, fitting, membersOf, sound, type Known } from './arbitrary.ts';
import { bodiesOf, deviationOf, operations, type Operation } from './document.ts';
import { examplesOf } from './examples.ts';
import { makeWorld, type World } from './world.ts';

// A failure is repeated by FUZZ_SEED and shown at its shortest; more runs find more: FUZZ_RUNS.
const seed = Number(process.env['FUZZ_SEED'] ?? Date.now() % 2 ** 31);
const numRuns = Number(process.env['FUZZ_RUNS'] ?? 12);
/** Of each operation: those that wait longest come to so many in their time on the slowest machine. */
const leastSent = 4;
const mostMs = 1_000;
/** How long these operations wait on purpose, on top of that. */
const waitsMs: Readonly<Record<string, number>> = {
  rotateDestinationSecrets: 2_000,
  exportProject: 2_000,
  importProject: 2_000,
};

/** Operations that cannot succeed in the fuzz, in the document's order, and why. */
const cannotSucceed: Readonly<Record<string, string>> = {
  oauthStart: 'its `flow` is of the one browser that oauthConnect sent there',
  oauthCallback: 'its `code` comes from a provider',
  verifySecondFactor: 'its code is that of the minute, and a sign-in must wait for it',
  confirmSecondFactor: 'its code is that of the minute',
  downloadMessageResult: 'its `secret` stands in a message whose record is too large for it',
};

interface Request {
  target: string;
  headers: Record<string, string>;
  body: unknown;
}

describe(`test/fuzz with the seed ${seed}`, () => {
  let test: TestDatabase;
  let platform: Platform;
  /** The statuses seen, by operation. */
  const seen = new Map<string, Set<number>>();
  let world: World;

  beforeAll(async () => {
    test = await createTestDatabase();
    // Wrong passwords are sent by chance, too, and must not shut the right ones out.
    platform = await startPlatform({
      databaseUrl: test.url,
      env: { SVC_AUTH_FAILURES_PER_MINUTE: '100000' },
    });
    world = await makeWorld(platform, test.database);
  });
  afterAll(async () => {
    await platform?.stop();
    await test?.drop();
  });

  const valuesFor = ({ method }: Operation): Known => (method === 'DELETE' ? world.spare : world.known);

  /** Some parameters of one name take other values in some operations. */
  const nameIn = ({ operationId }: Operation, values: Known, name: string): string =>
    Object.hasOwn(values, `${operationId}/${name}`) ? `${operationId}/${name}` : name;

  /** Bodies that are told to work: the fuzz's own, then the document's. */
  function told(operation: Operation): unknown[] {
    const shown = bodiesOf(operation).filter(({ place }) => place === 'request application/json');
    return [...examplesOf(operation.operationId, world.made), ...shown.flatMap((body) => body.examples)];
  }

  /** Requests of one operation: with what its schemas take, or with something else somewhere. */
  function requests(operation: Operation, make: typeof sound): fc.Arbitrary<Request> {
    const values = valuesFor(operation);
    const parameters = membersOf(
      Object.fromEntries(
        operation.parameters.map(({ name, schema }) => [
          name,
          fitting(schema, values, nameIn(operation, values, name)),
        ]),
      ),
      operation.parameters.filter(({ required }) => required).map(({ name }) => name),
    );
    const bodies = operation.body && make(operation.body, values, told(operation));
    return fc
      .tuple(parameters, bodies ?? fc.constant(undefined))
      .map(([given, body]) => requestOf(operation, given, body));
  }

  /** The first values and the first body that the others are drawn from, and nothing that is not required. */
  function plainest(operation: Operation): Request {
    const values = valuesFor(operation);
    const given = operation.parameters
      .filter(({ required }) => required)
      .map(({ name }) => [name, values[nameIn(operation, values, name)]?.[0]]);
    return requestOf(operation, Object.fromEntries(given), operation.body && told(operation)[0]);
  }

  function requestOf(operation: Operation, given: Record<string, unknown>, body: unknown): Request {
    let { path } = operation;
    const query = new URLSearchParams();
    const headers: Record<string, string> = {};
    for (const { name, in: place } of operation.parameters) {
      const value = given[name];
      if (place === 'path') path = path.replace(`{${name}}`, encodeURIComponent(wellFormed(value)));
      else if (value === undefined) continue;
      else if (place === 'query') query.append(name, wellFormed(value));
      else headers[name] = wellFormed(value).replaceAll(/[^\x21-\x7e]/g, '') || 'x';
    }
    return { target: query.size > 0 ? `${path}?${query.toString()}` : path, headers, body };
  }

  /** A path has no empty segment, nor one that clients resolve by themselves. */
  function wellFormed(value: unknown): string {
    const text = String(value).toWellFormed();
    return text === '' || text === '.' || text === '..' ? 'x' : text;
  }

  /** What is wrong with the answer, if anything. */
  async function faultOf(
    operation: Operation,
    { target, headers, body }: Request,
  ): Promise<string | undefined> {
    const caller = world.callerOf(operation);
    const options = { ...caller, headers: { ...headers, ...caller.headers } };
    const send = () => platform.call<unknown>(operation.method, target, body, options);
    let [answer, took] = await timed(send);
    const { status } = answer;
    seen.set(operation.operationId, (seen.get(operation.operationId) ?? new Set()).add(status));
    if (status >= 500) return `${status}: ${answer.text}`;
    const type = answer.headers.get('content-type') ?? '';
    const deviation = deviationOf(operation, { status, type, body: answer.body, text: answer.text });
    if (deviation !== undefined) return deviation;
    const most = mostMs + (waitsMs[operation.operationId] ?? 0);
    // Other work loads the machine, too: only what is slow four times is slow.
    for (let again = 0; took > most && again < 3; again += 1) {
      [answer, took] = await timed(send);
    }
    return took > most ? `took ${Math.round(took)} ms` : undefined;
  }

  async function timed(work: () => Promise<Answer<unknown>>): Promise<[Answer<unknown>, number]> {
    const start = performance.now();
    const answer = await work();
    return [answer, performance.now() - start];
  }

  const named = operations.map((operation) => [operation.operationId, operation] as const);

  // Before the others: what they change by chance may keep some of these from succeeding.
  it.each(named)('%s is answered as the document says when sent the plainest', async (_id, operation) => {
    expect(await faultOf(operation, plainest(operation))).toBeUndefined();
  });

  describe.each([
    ['what its schemas take', sound],
    ['something else somewhere', broken],
  ] as const)('answered as the document says when sent %s', (_what, make) => {
    it.each(named)(
      '%s',
      async (_id, operation) => {
        let sent = 0;
        const property = fc.asyncProperty(requests(operation, make), async (request) => {
          sent += 1;
          expect(await faultOf(operation, request)).toBeUndefined();
        });
        await fc.assert(property, { seed, numRuns, interruptAfterTimeLimit: 60_000 });
        // A slow machine may be interrupted, and one that sent hardly anything has shown nothing.
        expect(sent).toBeGreaterThanOrEqual(Math.min(numRuns, leastSent));
      },
      120_000,
    );
  });

  it('every operation succeeded at least once, but those that cannot', () => {
    const failed = operations
      .map(({ operationId }) => operationId)
      .filter((id) => [...(seen.get(id) ?? [])].every((status) => status >= 400));
    expect(failed).toEqual(Object.keys(cannotSucceed));
  });
});
