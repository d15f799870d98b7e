import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from './database.ts';
import { actAs } from '../src/events/index.ts';
import { newId } from '../src/kit/ids.ts';
import { groundOf } from '../src/operations/harness.fixture.ts';
import { createMembers } from '../src/people/members.ts';
import { createSessions, type PeopleGround, type Sessions } from '../src/people/sessions.ts';

describe('people, of whom something was taken away meanwhile', () => {
  let test: TestDatabase;
  let ground: PeopleGround;
  let sessions: Sessions;
  let projectId: string;
  let personId: string;

  beforeAll(async () => {
    test = await createTestDatabase();
    const limits = { sessionIdleMinutes: 60, sessionHours: 24 } as PeopleGround['limits'];
    ground = { ...groundOf(test.database), publicUrl: 'https://svc.example', limits };
    sessions = createSessions(ground);
  });
  afterAll(async () => {
    await sessions?.close();
    await test?.drop();
  });
  beforeEach(async () => {
    [projectId, personId] = [newId(), newId()];
    await test.database.raw(`INSERT INTO project (id, name, app_name) VALUES ($1, $2, 'App')`, [
      projectId,
      `p${projectId}`,
    ]);
    await test.database.raw('INSERT INTO person (id, email) VALUES ($1, $2)', [
      personId,
      `${personId}@example.com`,
    ]);
  });

  it('opens no session by an account elsewhere that a reset took away', async () => {
    const proof = { by: 'provider', issuer: 'https://elsewhere.example', subject: personId } as const;
    const visitor = { address: '192.0.2.1', userAgent: undefined, cookie: undefined, requestId: newId() };
    await test.database.raw('INSERT INTO person_identity (issuer, subject, person_id) VALUES ($1, $2, $3)', [
      proof.issuer,
      proof.subject,
      personId,
    ]);
    await sessions.open(personId, visitor, proof);
    await test.database.raw('DELETE FROM person_identity WHERE person_id = $1', [personId]);
    await test.database.raw('DELETE FROM person_session WHERE person_id = $1', [personId]);
    await expect(sessions.open(personId, visitor, proof)).rejects.toMatchObject({ code: 'sign-in-refused' });
    expect(await test.database.raw('SELECT FROM person_session WHERE person_id = $1', [personId])).toEqual(
      [],
    );
  });

  it('invites nobody for an owner who was lowered or removed', async () => {
    const members = createMembers(ground, sessions);
    const invite = () =>
      actAs({ kind: 'person', personId }, () =>
        members.invite(projectId, { email: `${newId()}@example.com`, role: 'owner' }),
      );
    await expect(invite()).rejects.toMatchObject({ code: 'forbidden' });
    await test.database.raw(`INSERT INTO member (project_id, person_id, role) VALUES ($1, $2, 'owner')`, [
      projectId,
      personId,
    ]);
    expect(await invite()).toMatchObject({ role: 'owner' });
    await test.database.raw(`UPDATE member SET role = 'developer' WHERE project_id = $1`, [projectId]);
    await expect(invite()).rejects.toMatchObject({ code: 'forbidden' });
    const found = await test.database.raw('SELECT role FROM invitation WHERE project_id = $1', [projectId]);
    expect(found).toEqual([{ role: 'owner' }]);
  });
});
