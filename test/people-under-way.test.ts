import { TOTP, Secret } from 'otpauth';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from './database.ts';
import { tokenOf } from './people.ts';
import { groundOn } from '../src/connections/ground.fixture.ts';
import { actAs } from '../src/events/index.ts';
import { statement } from '../src/kit/db/statement.ts';
import { generateMasterKey } from '../src/kit/vault.ts';
import { createProjects, type SignedInPerson } from '../src/projects/index.ts';
import { loadCatalog } from '../src/providers/index.ts';
import { createPasswords, type Passwords } from '../src/people/password.ts';
import { createPeople, type People } from '../src/people/people.ts';
import { makeOwnerLink, makeResetLink } from '../src/people/welcome.ts';
import type { Visitor } from '../src/people/sessions.ts';
import type { SignedIn } from '../src/people/schema.ts';
import type { Entered } from '../src/people/sign-in.ts';

const first = 'correct horse battery staple';
const second = 'another horse battery staple';

const lockFactor = statement('test_lock_factor', 'SELECT FROM second_factor WHERE person_id = $1 FOR UPDATE');
const waitingStatements = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;

/** A check of a password that has been made, and whose answer waits. */
interface Waiting {
  begun: Promise<void>;
  release(): void;
}

describe('test/people-under-way', () => {
  let test: TestDatabase;
  let projects: ReturnType<typeof createProjects>;
  let people: People;
  let url: string;
  let projectId: string;
  let waiting: { began(): void; released: Promise<void> } | undefined;
  let count = 0;

  beforeAll(async () => {
    test = await createTestDatabase();
    const ground = groundOn(test.database, generateMasterKey('k1'));
    url = ground.publicUrl;
    projects = createProjects(ground, { catalog: loadCatalog() });
    ({ projectId } = await projects.bootstrap());
    const real = createPasswords();
    const passwords: Passwords = {
      ...real,
      async fits(password, stored) {
        const fits = await real.fits(password, stored);
        const held = waiting;
        waiting = undefined;
        held?.began();
        await held?.released;
        return fits;
      },
    };
    people = createPeople({ ground, projects, passwords });
  });
  afterAll(async () => {
    await people?.close();
    await projects?.close();
    await test?.drop();
  });

  /** The next password that is checked is answered when it is released. */
  function holdNext(): Waiting {
    const [begun, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    waiting = { began: begun.resolve, released: released.promise };
    return { begun: begun.promise, release: released.resolve };
  }
  const visitor = (cookie?: string): Visitor => ({
    address: '192.0.2.1',
    userAgent: undefined,
    cookie,
    requestId: 'r',
  });
  const cookieOf = ({ cookie = '' }: Entered): string => cookie.split(';')[0] ?? '';
  const whoIs = (entered: Entered): Promise<SignedIn> => people.whoIs({ cookie: cookieOf(entered) });
  const accept = (link: string, password: string, email?: string): Promise<Entered> =>
    people.accept({ token: tokenOf(link), password, ...(email ? { email } : {}) }, visitor(), {});

  /** Somebody new, signed in. */
  async function join(): Promise<{ email: string; who: SignedInPerson; entered: Entered }> {
    count += 1;
    const email = `p${count}@example.com`;
    const entered = await accept(await makeOwnerLink(test.database, url), first, email);
    const { person, sessionId } = await whoIs(entered);
    return { email, entered, who: { id: person.id, email, sessionId, projectIds: [projectId] } };
  }
  const signIn = (email: string, password = first): Promise<Entered> =>
    people.signIn({ email, password }, visitor());
  const changePassword = (
    who: SignedInPerson,
    currentPassword = first,
    newPassword = second,
  ): Promise<void> => people.account.changePassword(who, { currentPassword, newPassword }, visitor());
  async function setUpFactor(who: SignedInPerson, password = first): Promise<TOTP> {
    const { secret } = await people.account.beginSecondFactor(who, password, visitor());
    const totp = new TOTP({ secret: Secret.fromBase32(secret) });
    await people.account.confirmSecondFactor(who, totp.generate(), visitor());
    return totp;
  }
  const newProject = async (): Promise<string> => {
    count += 1;
    return (await actAs({ kind: 'operator' }, () => projects.create({ name: `other-${count}` }))).id;
  };
  const sessionsOf = async (personId: string): Promise<number> =>
    (await test.database.raw('SELECT FROM person_session WHERE person_id = $1', [personId])).length;

  it('a sign-in with the former password comes to nothing', async () => {
    const { email, who } = await join();
    const held = holdNext();
    const late = signIn(email);
    await held.begun;
    await changePassword(who);
    held.release();
    await expect(late).rejects.toMatchObject({ code: 'sign-in-refused' });
    expect(await sessionsOf(who.id)).toBe(1);
  });

  it('a sign-in with the former password comes to nothing after a reset', async () => {
    const { email, who } = await join();
    const held = holdNext();
    const late = signIn(email);
    await held.begun;
    await accept(await makeResetLink(test.database, url, email), second);
    held.release();
    await expect(late).rejects.toMatchObject({ code: 'sign-in-refused' });
    expect(await sessionsOf(who.id)).toBe(1);
  });

  it('a sign-in that began before the second factor was confirmed waits for it', async () => {
    const { email, who } = await join();
    const held = holdNext();
    const late = signIn(email);
    await held.begun;
    await setUpFactor(who);
    held.release();
    const entered = await late;
    expect(entered.answer).toEqual({ state: 'secondFactor' });
    await expect(whoIs(entered)).rejects.toMatchObject({ code: 'unauthenticated' });
  });

  it('an invitation that is accepted with the former password, or without the second factor, lets nobody in', async () => {
    const { email, who } = await join();
    const id = await newProject();
    const invite = async (): Promise<string> =>
      (await actAs({ kind: 'operator' }, () => people.members.invite(id, { email, role: 'viewer' }))).url ??
      '';
    const held = holdNext();
    const link = await invite();
    const late = accept(link, first);
    await held.begun;
    await changePassword(who);
    held.release();
    await expect(late).rejects.toMatchObject({ code: 'sign-in-refused' });
    expect(await test.database.raw('SELECT FROM member WHERE project_id = $1', [id])).toEqual([]);

    const again = holdNext();
    const later = accept(link, second);
    await again.begun;
    await setUpFactor(who, second);
    again.release();
    expect((await later).answer).toEqual({ state: 'secondFactor' });
  });

  it('a second factor is taken only while the sign-in waits that it belongs to', async () => {
    const { email, who } = await join();
    const totp = await setUpFactor(who);
    const pending = await signIn(email);
    const released = Promise.withResolvers<void>();
    const locked = Promise.withResolvers<void>();
    const held = test.database.transaction(async (tx) => {
      await tx.rows(lockFactor, [who.id]);
      locked.resolve();
      await released.promise;
    });
    await locked.promise;
    const cookie = cookieOf(pending);
    // A code holds once; the next one is that of the half minute to come.
    const code = totp.generate({ timestamp: Date.now() + 30_000 });
    const late = people.verify({ code }, visitor(cookie), { cookie });
    await expect.poll(() => test.database.raw(waitingStatements)).toHaveLength(1);
    await changePassword(who);
    released.resolve();
    await held;
    await expect(late).rejects.toMatchObject({ code: 'unauthenticated' });
    expect(await sessionsOf(who.id)).toBe(1);
  });

  it('a change that began in a session that was ended meanwhile is not made', async () => {
    const { email, who } = await join();
    const held = holdNext();
    const late = changePassword(who, first, 'chosen by whoever is thrown out');
    await held.begun;
    await accept(await makeResetLink(test.database, url, email), second);
    held.release();
    await expect(late).rejects.toMatchObject({ code: 'unauthenticated' });
    expect((await signIn(email, second)).answer).toMatchObject({ state: 'signedIn' });
  });
});
