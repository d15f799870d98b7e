import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deploy, install, type Customer } from '../customer.ts';
import { createTestDatabase, type TestDatabase } from '../database.ts';
import { startPlatform, type Answer, type Platform } from '../platform.ts';
import { broken, fitting, membersOf, sound, type Known } from './arbitrary.ts';
import { bodiesOf, deviationOf, operations, type Operation } from './document.ts';
import { examples } from './examples.ts';

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
};

interface Request {
  target: string;
  headers: Record<string, string>;
  body: unknown;
}

describe(`test/fuzz with the seed ${seed}`, () => {
  let test: TestDatabase;
  let platform: Platform;
  let customer: Customer;
  let known: Known = {};
  /** The statuses seen, by operation. */
  const seen = new Map<string, Set<number>>();
  /** Values whose deletion does not break the other operations. */
  let spare: Known = {};

  beforeAll(async () => {
    test = await createTestDatabase();
    platform = await startPlatform({ databaseUrl: test.url });
    await deploy(platform);
    customer = await install(platform, 'hubspot-crm', 'acme', {
      write: { objects: { contacts: { objectName: 'contacts', deletionSettings: { enabled: true } } } },
    });
    [known, spare] = [await knownValues(), await spareValues()];
  });
  afterAll(async () => {
    await platform?.stop();
    await test?.drop();
  });

  async function idOf(path: string, body: unknown): Promise<string> {
    return (await platform.call<{ id: string }>('POST', `/projects/${platform.projectId}${path}`, body)).body
      .id;
  }

  async function knownValues(): Promise<Known> {
    const write = { type: 'create', mode: 'asynchronous', record: { email: 'fuzz@example.com' } };
    const { body } = await customer.write('contacts', write);
    const integration = await platform.call<{ latestRevision: { id: string } }>(
      'GET',
      `/projects/${platform.projectId}/integrations/${customer.integration}`,
    );
    const apiKey = await idOf('/api-keys', { label: 'fuzz', scopes: ['read'] });
    const destination = 'crm-records';
    const metadata = { url: 'http://127.0.0.1:9/' };
    await idOf('/destinations', { name: destination, type: 'webhook', metadata });
    const replay = await platform.call<{ replayId: string }>(
      'POST',
      `/projects/${platform.projectId}/deliveries:replay`,
      { filter: { destination } },
    );
    return {
      projectIdOrName: [platform.projectId],
      integrationId: [customer.integration],
      integrationIdOrName: [customer.integration],
      installationId: [customer.installationId],
      connectionId: [customer.connectionId],
      operationId: [body.operationId],
      revisionId: [integration.body.latestRevision.id],
      id: [apiKey],
      destination: [destination],
      replayId: [replay.body.replayId],
      objectName: ['contacts', 'companies'],
      groupRef: ['acme'],
      consumerRef: ['acme-user'],
      provider: ['hubspot', 'salesforce'],
      record: [{ email: 'a@example.com' }, { id: '1', firstname: 'Ada' }, { id: '1' }],
      op: ['add', 'replace', 'remove'],
      path: ['', '/objectName', '/selectedFieldSettings', '/selectedFieldSettings/email'],
      '*': ['contacts', 'email', 'firstname', 'constructor'],
    };
  }

  async function spareValues(): Promise<Known> {
    const none = '0192f0c1-0000-7000-8000-000000000000';
    return {
      projectIdOrName: [platform.projectId],
      id: [await idOf('/api-keys', { label: 'spare', scopes: ['read'] }), none],
      integrationIdOrName: ['hubspot-no-proxy', 'none'],
      integrationId: [customer.integration],
      installationId: [none],
      connectionId: [none],
      destination: [none],
    };
  }

  /** Requests of one operation: with what its schemas take, or with something else somewhere. */
  function requests(operation: Operation, make: typeof sound): fc.Arbitrary<Request> {
    const values = operation.method === 'DELETE' ? spare : known;
    const parameters = membersOf(
      Object.fromEntries(
        operation.parameters.map(({ name, schema }) => [name, fitting(schema, values, name)]),
      ),
      operation.parameters.filter(({ required }) => required).map(({ name }) => name),
    );
    const shown = bodiesOf(operation).filter(({ place }) => place === 'request application/json');
    const told = [...shown.flatMap((body) => body.examples), ...(examples[operation.operationId] ?? [])];
    const bodies = operation.body && make(operation.body, values, told);
    return fc
      .tuple(parameters, bodies ?? fc.constant(undefined))
      .map(([given, body]) => requestOf(operation, given, body));
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
    let [answer, took] = await timed(() =>
      platform.call<unknown>(operation.method, target, body, { headers }),
    );
    const { status } = answer;
    seen.set(operation.operationId, (seen.get(operation.operationId) ?? new Set()).add(status));
    if (status >= 500) return `${status}: ${answer.text}`;
    const type = answer.headers.get('content-type') ?? '';
    const deviation = deviationOf(operation, { status, type, body: answer.body, text: answer.text });
    if (deviation !== undefined) return deviation;
    const most = mostMs + (waitsMs[operation.operationId] ?? 0);
    // Other work loads the machine, too: only what is slow four times is slow.
    for (let again = 0; took > most && again < 3; again += 1) {
      [answer, took] = await timed(() => platform.call(operation.method, target, body, { headers }));
    }
    return took > most ? `took ${Math.round(took)} ms` : undefined;
  }

  async function timed(work: () => Promise<Answer<unknown>>): Promise<[Answer<unknown>, number]> {
    const start = performance.now();
    const answer = await work();
    return [answer, performance.now() - start];
  }

  describe.each([
    ['what its schemas take', sound],
    ['something else somewhere', broken],
  ] as const)('answered as the document says when sent %s', (_what, make) => {
    it.each(operations.map((operation) => [operation.operationId, operation] as const))(
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

  it('most operations succeeded at least once', () => {
    const done = [...seen].filter(([, statuses]) => [...statuses].some((status) => status < 300));
    expect(done.length).toBeGreaterThan(operations.length * 0.5);
  });
});
