import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { newBrowser, type Seen } from '../../simulator/browser.ts';
import {
  connect,
  deploy,
  during,
  fault,
  install,
  manifest,
  type Customer,
  type ProblemBody,
} from '../customer.ts';
import { createTestDatabase, type TestDatabase } from '../database.ts';
import { startForwarder, type Forwarder } from '../forwarder.ts';
import { startPlatform, type Answer, type Platform } from '../platform.ts';

describe('test/journeys/database-doubt', () => {
  let test: TestDatabase;
  let wire: Forwarder;
  let platform: Platform;
  let customer: Customer;
  let count = 0;

  beforeAll(async () => {
    test = await createTestDatabase();
    wire = await startForwarder(test.url);
    // A pooler gives statements names of its own, by which none of them can be lost.
    platform = await startPlatform({ databaseUrl: wire.url, pooled: false });
    await deploy(platform);
    customer = await install(platform, 'hubspot-crm', 'acme');
  });
  afterEach(async () => {
    wire.heal();
    await untilReady();
  });
  afterAll(async () => {
    await platform?.stop();
    await wire?.close();
    await test?.drop();
  });

  const email = (): string => `o${++count}@example.com`;
  const write = (more: Record<string, unknown> = {}) =>
    customer.write<ProblemBody>('contacts', { type: 'create', record: { email: email() }, ...more });
  const expectAway = (answer: Answer<ProblemBody>): void => {
    expect(answer).toMatchObject({ status: 503, body: { code: 'database-unavailable', retryable: true } });
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
  };
  const expectOpen = (answer: Answer<ProblemBody>): void => {
    const operationId = expect.stringMatching(/^[0-9a-f-]{36}$/) as string;
    const body = { code: 'outcome-unknown', retryable: false, operationId };
    expect(answer).toMatchObject({ status: 502, body });
  };
  /** All of it, or a part. */
  const expectDone = (method: string, { status, body, headers }: Answer<ProblemBody>): void => {
    const isOnce = method !== 'PUT';
    const detail = 'This was done, or a part of it: the database went away meanwhile.';
    expect({ status, body }).toMatchObject({
      status: 503,
      body: { code: 'database-unavailable', retryable: !isOnce, detail },
    });
    expect(headers.has('retry-after')).toBe(!isOnce);
  };
  const operation = (id = '') => platform.call('GET', `/projects/default/operations/${id}`);
  const untilReady = () =>
    expect.poll(async () => (await platform.call('GET', '/readyz')).status, { timeout: 10_000 }).toBe(200);

  it('says that nothing was accepted where the lane of the node was perhaps opened', async () => {
    // By its first synchronous write.
    wire.loseWay('lane_open_node');
    const away = await write();
    expectAway(away);
    expect(away.body.detail).toContain('Nothing was accepted');
    wire.heal();
    await untilReady();
    expect(await write()).toMatchObject({ status: 200 });
  });

  it('names the operation of a write that may be accepted, where no key finds it', async () => {
    wire.loseWay('ledger_accept');
    const open = await write({ mode: 'asynchronous' });
    expectOpen(open);
    wire.heal();
    await untilReady();
    expect(await customer.settled(open.body.operationId ?? '')).toMatchObject({ status: 'success' });

    wire.loseWay('ledger_accept');
    const body = { type: 'create', mode: 'asynchronous', record: { email: email() } };
    const key = { headers: { 'idempotency-key': email() } };
    const keyed = await customer.write<ProblemBody>('contacts', body, key);
    expectAway(keyed);
    expect(keyed.body.detail).toContain('not known whether the write was accepted');
    wire.heal();
    await untilReady();
    const again = await customer.write<ProblemBody>('contacts', body, key);
    expect(again.status).toBe(200);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(await customer.settled(again.body.operationId ?? '')).toMatchObject({ status: 'success' });
  });

  it('names the operation of an upsert that another node may send, and does not send it itself', async () => {
    const upsert = { type: 'upsert', upsertBy: 'email', record: { email: email() } };
    const { result: open, requests } = await during(platform.hubspot, async () => {
      wire.loseWay('ledger_accept');
      const answer = await customer.write<ProblemBody>('contacts', upsert);
      wire.heal();
      await untilReady();
      const { operationId = '' } = answer.body;
      await expect
        .poll(async () => (await operation(operationId)).body, { timeout: 20_000 })
        .toMatchObject({ status: 'failure' });
      return answer;
    });
    expectOpen(open);
    expect(requests.filter(({ method }) => method !== 'GET')).toEqual([]);
    const { body } = await operation(`${open.body.operationId}/records`);
    expect(JSON.stringify(body)).toContain('nothing was sent: the database did not answer in time');
  }, 60_000);

  it('does not say that nothing was done where a change may have been made', async () => {
    const make = (name: string) => platform.call<ProblemBody>('POST', '/projects', { name });
    const named = async () =>
      (await test.database.raw('SELECT name FROM project')).map(({ name }) => String(name));
    // The next commit may be one of the background.
    const lose = async (): Promise<string> => {
      for (let tries = 1; tries < 10; tries += 1) {
        const name = `open-${++count}`;
        wire.loseCommit();
        const { status, body } = await make(name);
        if (status === 201) continue;
        expect(status).toBe(503);
        expect(body).toMatchObject({ code: 'database-unavailable', retryable: false });
        expect(body.detail).toBe('It is not known whether this was done: the database did not say in time.');
        return name;
      }
      throw new Error('no commit of a project was lost');
    };
    const made = await lose();
    expect(await named()).toContain(made);

    // Without its transaction nothing of it is there.
    const name = `not-made-${++count}`;
    wire.loseWay('audit_insert');
    const lost = await make(name);
    wire.heal();
    await untilReady();
    expectAway(lost);
    expect(lost.body.detail).toContain('Nothing was accepted');
    expect(await named()).not.toContain(name);
  });

  it('answers for what was done when the database goes away right after the commit', async () => {
    wire.loseAfter('projects_update');
    const project = { name: 'default', appName: 'Renamed' };
    const change = { updateMask: ['name', 'appName'], project };
    const changed = await platform.call('PATCH', '/projects/default', change);
    expect(changed).toMatchObject({ status: 200, body: project });
  });

  const company = async (body: Record<string, unknown>): Promise<string> =>
    (await customer.write('companies', body)).body.operationId;
  const meet = (kind: Record<string, unknown>) =>
    fault(platform.hubspot, { method: 'POST', path: '/companies', fault: kind, times: 1 });
  const unresolved = async (): Promise<string> => {
    await meet({ kind: 'reset-after' });
    return company({ type: 'create', record: { name: email() } });
  };
  const queue = () => company({ type: 'create', mode: 'asynchronous', record: { name: email() } });
  /** One was refused for a while, and one is behind it. */
  const waiting = async (): Promise<void> => {
    await meet({ kind: 'status', status: 429, headers: { 'retry-after': '30' } });
    const id = await queue();
    await expect.poll(async () => (await customer.operation(id)).metadata?.retry?.attempts).toBe(1);
    const last = await queue();
    // Until its lane waits for the provider, it may be about to be sent.
    const resting = `SELECT FROM work w JOIN lane l ON l.id = w.lane_id
      WHERE w.ref = '${last}' AND w.state = 0 AND l.not_before > svc_now()`;
    await expect.poll(async () => (await test.database.raw(resting)).length).toBe(1);
  };
  /** The oldest first, as they are written again. */
  const failed = async (): Promise<string[]> => {
    const ids: string[] = [];
    while (ids.length < 5) ids.push(await company({ type: 'update', record: { id: '99999999', city: 'v' } }));
    return ids;
  };
  const at = (path: string): string => `/projects/default${path}`;
  const filter = { groupRef: 'acme', object: 'companies' };
  type Change = [method: 'POST' | 'PUT', path: string, body: object];

  /** The first function sees to it that the database goes away after the change; the statement finds a row if it was made. */
  it.each<[what: string, ask: () => Promise<Change>, done: string]>([
    [
      'an installation',
      async () => {
        await connect(platform, 'hubspot', 'installed');
        const config = { content: { provider: 'hubspot' } };
        wire.loseAfter('installations_insert_config');
        return ['POST', at('/integrations/hubspot-crm/installations'), { groupRef: 'installed', config }];
      },
      `SELECT FROM installation WHERE group_ref = 'installed'`,
    ],
    [
      'a deploy',
      async () => {
        const sourceYaml = manifest.replace('mapToName: notes', 'mapToName: remarks');
        wire.loseAfter('revisions_insert');
        return ['PUT', at('/integrations:batch'), { sourceYaml }];
      },
      `SELECT FROM audit_log WHERE action = 'deploy.done' HAVING count(*) > 1`,
    ],
    [
      'what became of a record',
      async () => {
        const path = at(`/operations/${await unresolved()}:resolve`);
        wire.loseAfter('record_resolve');
        return ['POST', path, { records: [{ index: 0, resolution: 'applied' }] }];
      },
      `SELECT FROM audit_log WHERE action = 'operation.resolved'`,
    ],
    [
      'some of the operations that are written again',
      async () => {
        const last = (await failed()).at(-1) ?? '';
        // As a parameter: its length and itself. The list before asks for all of them in an array.
        wire.loseWay(`\0\0\0$${last}`);
        return ['POST', at('/operations:retry'), { filter }];
      },
      `SELECT FROM operation WHERE request->>'retryOf' IS NOT NULL HAVING count(*) = 4`,
    ],
    [
      'some of the operations that are canceled',
      async () => {
        await waiting();
        wire.loseAfter('work_withhold');
        return ['POST', at('/operations:cancel'), { filter }];
      },
      `SELECT FROM audit_log WHERE action = 'operation.canceled' HAVING count(*) = 2`,
    ],
  ])('does not say that nothing was accepted of %s', async (_what, ask, done) => {
    const [method, path, body] = await ask();
    expectDone(method, await platform.call<ProblemBody>(method, path, body));
    expect(await test.database.raw(done)).toHaveLength(1);
  });

  it('says so where all that was committed is a line of the audit log', async () => {
    wire.loseWay('portable_read_settings');
    expectAway(await platform.call('POST', at('/exports'), { passphrase: 'correct horse battery staple' }));
    expect(await test.database.raw(`SELECT FROM audit_log WHERE action = 'project.exported'`)).toHaveLength(
      1,
    );
  });

  it('names what takes a move back that came to no file', async () => {
    wire.loseWay('connections_unmoved');
    const body = { passphrase: 'correct horse battery staple', move: true };
    const answer = await platform.call<ProblemBody>('POST', at('/exports'), body);
    expect(answer).toMatchObject({ status: 503, body: { code: 'database-unavailable', retryable: false } });
    expect(answer.body.detail).toContain('the connections are moved');
    expect(answer.body.remedy).toContain('exports:undo');
    wire.heal();
    await untilReady();
    expect(await platform.call('POST', at('/exports:undo'))).toMatchObject({ body: { connections: 2 } });
  });

  it('tells a person who connects an account that it is not known whether it is connected', async () => {
    const connections = () => test.database.raw(`SELECT FROM connection WHERE group_ref = 'unsure'`);
    const flow = { projectIdOrName: 'default', provider: 'hubspot', groupRef: 'unsure', consumerRef: 'u' };
    const open = async (): Promise<Seen> => {
      const { text } = await platform.call('POST', '/oauth-connect', flow);
      wire.loseCommit();
      return newBrowser().open(text);
    };
    let page = await open();
    // The next commit may be one of the background.
    for (let tries = 1; page.status === 200 && tries < 10; tries += 1) page = await open();
    expect(page.status).toBe(503);
    expect(page.text).toContain('data-kind="unsure"');
    expect(page.text).toContain('It may be that HubSpot is connected to');
    expect(page.text).toContain('Look at the connection before you connect it again.');
    expect(page.text).not.toMatch(/Nothing was (accepted|changed)/);
    expect(await connections()).toHaveLength(1);
  });
});
