import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { roles } from '../../src/people/schema.ts';
import { scopesOf } from '../../src/people/roles.ts';
import { generateApiKey } from '../../src/projects/keys/key-form.ts';
import { bodies, nobody, operationsOf, reachOf, requestOf } from '../access-requests.ts';
import type { Operation, Request } from '../access-requests.ts';
import { fill, openProject, type Refs, type World } from '../access-world.ts';
import { createTestDatabase, type TestDatabase } from '../database.ts';
import { joinAs, type Browser } from '../people.ts';
import { startPlatform, type Answer, type CallOptions, type Platform } from '../platform.ts';

type Problem = Record<string, unknown>;

/** Somebody who calls: how, with which scopes, and whether confined to a group. */
interface Caller {
  name: string;
  options: CallOptions;
  scopes: string[];
  isKnown: boolean;
  isConfined: boolean;
  /** Somebody who is signed in: for them another project is not found, whatever else is wrong with the request. */
  isPerson?: true;
}

const scopes = [
  'full',
  'develop',
  'view',
  'remediate',
  'read',
  'write',
  'proxy',
  'frontend',
  'metrics',
  'operator',
] as const;
/**
 * Not for people: a front-end token ends with the key that made it, and the body of `oauthConnect` names the project, so that the
 * role in it is not known when access is decided.
 */
const notForPersons: ReadonlySet<string> = new Set(['createFrontendToken', 'oauthConnect']);
const ofInstance: ReadonlySet<string> = new Set(['metrics', 'operator']);
const slots = Object.keys(nobody()) as (keyof Refs)[];
const groupSlots: (keyof Refs)[] = ['connection', 'installation', 'operation', 'delivery', 'group'];

/** Operations on what a filter finds: where that is somebody else's, they must answer as if there were nothing. */
const ofWhatIsFound: ReadonlySet<string> = new Set(['retryOperations', 'cancelOperations']);

/** What remains of an answer once the value that was sent and what differs from call to call are taken out. */
function shapeOf(answer: Answer<Problem>, sent: string[]): unknown {
  const text = sent
    .reduce((left, value) => left.replaceAll(value, '<sent>'), answer.text)
    .replaceAll(/[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}/g, '<id>')
    .replaceAll(/"requestId":"[^"]*"/g, '')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>');
  return [answer.status, text];
}

describe('test/journeys/access-walk', () => {
  let test: TestDatabase;
  let platform: Platform;
  let mine: World;
  let other: World;
  let operations: Operation[];
  const strangers: Caller[] = [];
  const members: Caller[] = [];
  const confined: Caller[] = [];
  const persons: Caller[] = [];

  beforeAll(async () => {
    test = await createTestDatabase();
    const env = { SVC_AUTH_FAILURES_PER_MINUTE: '100000' };
    platform = await startPlatform({ databaseUrl: test.url, env });
    operations = operationsOf((await platform.call<never>('GET', '/openapi.json')).body);
    mine = await fill(platform, 'default', test.database);
    other = await fill(await openProject(platform, 'victim'), 'victim', test.database);
    await fillCallers();
  });
  afterAll(async () => {
    await platform?.stop();
    await test?.drop();
  });

  async function fillCallers(): Promise<void> {
    const stranger = (name: string, options: CallOptions): Caller => ({
      name,
      options,
      scopes: [],
      isKnown: false,
      isConfined: false,
    });
    const sleeping = await mine.makeKey({ scopes: ['full'] });
    await mine.platform.call('PATCH', `/projects/default/api-keys/${sleeping.id}`, {
      updateMask: ['active'],
      apiKey: { active: false },
    });
    strangers.push(
      stranger('no key', { key: null }),
      stranger('a made-up key', { key: generateApiKey().key }),
      stranger('a deactivated key', { key: sleeping.key }),
    );
    await fillPersons(stranger);
    const member = { isKnown: true, isConfined: false };
    for (const scope of scopes) {
      const { key } = await mine.makeKey({ scopes: [scope] });
      members.push({ ...member, name: `a ${scope} key`, options: { key }, scopes: [scope] });
    }
    const inGroup = { isKnown: true, isConfined: true };
    for (const scope of scopes.filter((each) => !ofInstance.has(each))) {
      const { key } = await mine.makeKey({ scopes: [scope], groupRef: mine.acme.group });
      confined.push({ ...inGroup, name: `a confined ${scope} key`, options: { key }, scopes: [scope] });
    }
    const token = await mine.token(mine.acme.group);
    const options = { key: null, headers: { authorization: `Bearer ${token}` } };
    confined.push({ ...inGroup, name: 'a front-end token', options, scopes: ['frontend'] });
  }

  const cookieOf = (browser: Browser): CallOptions => ({
    key: null,
    headers: { cookie: browser.cookie() ?? '', 'sec-fetch-site': 'same-origin' },
  });

  /** Somebody of each role, and sessions that do not hold. */
  async function fillPersons(stranger: (name: string, options: CallOptions) => Caller): Promise<void> {
    for (const role of roles) {
      const browser = await joinAs(mine.platform, `${role}@walk.example`, role);
      const who = { name: `a person, ${role}`, options: cookieOf(browser), scopes: [...scopesOf[role]] };
      persons.push({ ...who, isKnown: true, isConfined: false, isPerson: true });
    }
    const gone = await joinAs(mine.platform, 'gone@walk.example', 'owner');
    const options = cookieOf(gone);
    await gone.call('DELETE', '/session');
    strangers.push(stranger('an ended session', options));
    const headers = { ...options.headers, cookie: `svc-session=${'a'.repeat(43)}` };
    strangers.push(stranger('a made-up session', { key: null, headers }));
  }

  const send = ({ method, path, body }: Request, { options }: Caller): Promise<Answer<Problem>> =>
    platform.call<Problem>(method, path, body, options);

  /** 401 and 403 as the document says; undefined when the caller gets through to the thing itself. */
  function refusalOf(operation: Operation, caller: Caller): number | undefined {
    const reach = reachOf(operation);
    if (reach.scopes === 'public') return undefined;
    if (!caller.isKnown) return 401;
    if (reach.scopes === 'signedIn') return caller.isPerson ? undefined : 403;
    if (caller.isPerson && notForPersons.has(operation.operationId)) return 403;
    const isReached = reach.scopes.some((scope) => caller.scopes.includes(scope));
    return isReached && (reach.confined || !caller.isConfined) ? undefined : 403;
  }

  it('knows a request for every operation of the document, and no request of an operation that is gone', () => {
    expect(operations.length).toBeGreaterThan(45);
    for (const operation of operations) {
      expect(requestOf(operation, mine.acme).path).not.toMatch(/[{}]|undefined/);
      expect(reachOf(operation).scopes.length).toBeGreaterThan(0);
    }
    const known = new Set(operations.map(({ operationId }) => operationId));
    expect(Object.keys(bodies).filter((id) => !known.has(id))).toEqual([]);
    expect(Object.values(mine.acme).concat(Object.values(other.acme))).not.toContain('');
  });

  it('every kind of caller gets 401 and 403 exactly where the document says so', async () => {
    const wrong: unknown[] = [];
    for (const operation of operations) {
      for (const caller of [...strangers, ...members, ...confined, ...persons]) {
        const expected = refusalOf(operation, caller);
        if (expected === undefined && operation.operationId === 'signOut') continue;
        // A caller who gets through changes nothing: the request names nothing that exists, and its body is wrong.
        const isHarmless = expected === undefined && operation.method !== 'GET';
        const refs = isHarmless ? { ...nobody(), project: mine.acme.project } : mine.acme;
        const request = requestOf(operation, refs);
        const answer = await send(
          isHarmless && request.body ? { ...request, body: { walked: 1 } } : request,
          caller,
        );
        const { status } = answer;
        const isRight = expected === undefined ? ![401, 403].includes(status) : status === expected;
        const code = { 401: 'unauthenticated', 403: 'forbidden' }[expected ?? 0];
        if (!isRight || status >= 500 || (code && answer.body['code'] !== code))
          wrong.push([operation.operationId, caller.name, expected, status, answer.text.slice(0, 300)]);
      }
    }
    expect(wrong).toEqual([]);
  }, 120_000);

  /**
   * Sends the request with `theirs` in one place, and with what does not exist there: different answers would tell that it
   * exists. Returns what is wrong with the answer.
   */
  async function compare(
    operation: Operation,
    caller: Caller,
    changed: Partial<Refs>,
  ): Promise<string | undefined> {
    const absent = nobody();
    const places = Object.keys(changed) as (keyof Refs)[];
    const own = requestOf(operation, mine.acme);
    const theirs = requestOf(operation, { ...mine.acme, ...changed });
    if (JSON.stringify(theirs.body) === JSON.stringify(own.body) && theirs.path === own.path)
      return undefined;
    const random = { ...mine.acme, ...Object.fromEntries(places.map((place) => [place, absent[place]])) };
    const answer = await send(theirs, caller);
    const baseline = await send(requestOf(operation, random), caller);
    const isElsewhere = changed.project !== undefined && operation.path.includes('{projectIdOrName}');
    const refusal = caller.isPerson && isElsewhere ? 404 : refusalOf(operation, caller);
    if (answer.status >= 500) return `${answer.status}`;
    if (refusal !== undefined && answer.status !== refusal) return `${answer.status}, not ${refusal}`;
    const [pathOfOwn, pathOfTheirs] = [own.path.split('?')[0], theirs.path.split('?')[0]];
    if (refusal === undefined && pathOfOwn !== pathOfTheirs && answer.status !== 404)
      return `${answer.status}, not 404: ${answer.text.slice(0, 200)}`;
    const isDone = operation.method !== 'GET' && answer.status < 300;
    if (isDone && !ofWhatIsFound.has(operation.operationId)) return `${answer.status}: it was done`;
    const shape = JSON.stringify(shapeOf(answer, Object.values(changed)));
    const expected = JSON.stringify(
      shapeOf(
        baseline,
        places.map((place) => absent[place]),
      ),
    );
    return shape === expected ? undefined : `${shape} is not ${expected}`;
  }

  async function walk(callers: Caller[], changes: Partial<Refs>[], secrets: string[]) {
    const wrong: unknown[] = [];
    let sent = 0;
    for (const operation of operations) {
      if (reachOf(operation).scopes === 'public') continue;
      for (const caller of callers) {
        for (const changed of changes) {
          const fault = await compare(operation, caller, changed);
          sent += 1;
          if (fault) wrong.push([operation.operationId, caller.name, Object.keys(changed).join(), fault]);
        }
        if (operation.method !== 'GET') continue;
        const own = requestOf(operation, mine.acme);
        // Without its filters a list is as long as it gets.
        const bare = { ...own, path: own.path.split('?')[0] ?? '' };
        const seen = (await send(own, caller)).text + (await send(bare, caller)).text;
        const leaked = secrets.filter((secret) => seen.includes(secret));
        if (leaked.length > 0) wrong.push([operation.operationId, caller.name, 'leaks', leaked]);
      }
    }
    return { wrong, sent };
  }

  it('another project’s things answer as if they did not exist, in path, query and body', async () => {
    const theirs = other.acme;
    const changes: Partial<Refs>[] = [
      // A groupRef is the builder's own word: the same one in two projects names two groups.
      ...slots.filter((slot) => slot !== 'group').map((slot) => ({ [slot]: theirs[slot] })),
      { ...theirs },
      { project: other.projectName },
    ];
    const { group: _own, ...ids } = theirs;
    const secrets = [...Object.values(ids), other.acme.group, other.globex.group, other.globex.connection];
    const { wrong, sent } = await walk([...members, ...confined, ...persons.slice(1, 3)], changes, secrets);
    expect(wrong).toEqual([]);
    expect(sent).toBeGreaterThan(4_000);
  }, 240_000);

  it('another group’s things answer as if they did not exist, to a caller who is confined to one', async () => {
    const theirs = Object.fromEntries(groupSlots.map((slot) => [slot, mine.globex[slot]]));
    const changes = [...groupSlots.map((slot) => ({ [slot]: mine.globex[slot] })), theirs];
    const { wrong } = await walk(confined, changes, Object.values(theirs));
    expect(wrong).toEqual([]);
  }, 240_000);

  it('no operation takes a query parameter that it does not know', async () => {
    const wrong: unknown[] = [];
    for (const operation of operations.filter((one) => reachOf(one).scopes.includes('full'))) {
      const request = requestOf(operation, mine.acme);
      const path = `${request.path}${request.path.includes('?') ? '&' : '?'}dry-run=true`;
      const { status, body } = await send({ ...request, path }, { options: {} } as Caller);
      const names = (body['issues'] as { in: string; name: string }[] | undefined)?.map(
        (issue) => issue.name,
      );
      if (status !== 400 || !names?.includes('dry-run')) wrong.push([operation.operationId, status, names]);
    }
    expect(wrong).toEqual([]);
  }, 60_000);

  it('the owner gets through with the same requests: nothing was changed, and a 404 was not for another reason', async () => {
    const owner: Caller = {
      name: 'the owner',
      options: { key: other.platform.apiKey },
      scopes: ['full'],
      isKnown: true,
      isConfined: false,
    };
    const order = ['GET', 'POST', 'PATCH', 'PUT', 'DELETE'];
    // A parent is deleted after what it holds, a destination after what leads there, a connection after its last installation.
    const deletes = [
      'deleteDestination',
      'deleteInstallation',
      'deleteConnection',
      'deleteProviderApp',
      'deleteIntegration',
    ];
    const ranked = operations
      .filter((operation) => reachOf(operation).scopes.includes('full'))
      .sort(
        (a, b) =>
          order.indexOf(a.method) - order.indexOf(b.method) ||
          deletes.indexOf(a.operationId) - deletes.indexOf(b.operationId),
      );
    const wrong: unknown[] = [];
    for (const operation of ranked) {
      const { status, text } = await send(requestOf(operation, other.acme), owner);
      const isFound = ![401, 403, 404].includes(status) && status < 500;
      if (!isFound) wrong.push([operation.operationId, status, text.slice(0, 300)]);
    }
    expect(wrong).toEqual([]);
  }, 60_000);
});
