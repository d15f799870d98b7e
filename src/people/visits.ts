import type { Principal, Visit } from '../projects/index.ts';
import { problem } from '../kit/problem.ts';
import { assertOwnPage, provenanceOf } from './browser.ts';
import { scopesOf } from './roles.ts';
import type { Sessions } from './sessions.ts';
import type { SessionRecord } from './store/sessions.ts';

/**
 * The principal behind the cookie of a session, in the project that the path names; undefined without such a cookie, and for
 * what a page of another origin reads. Throws unauthenticated, cross-origin, and not-found for a project of others.
 */
export async function principalOfVisit(
  sessions: Sessions,
  publicUrl: string,
  { headers, method, project, isUnattended }: Visit,
): Promise<Principal | undefined> {
  if (sessions.cookie.read(headers) === undefined) return undefined;
  if (method !== 'GET' && method !== 'HEAD') assertOwnPage(headers, publicUrl);
  else if (provenanceOf(headers, publicUrl) === 'foreign') return undefined;
  const session = await sessions.require(headers, isUnattended);
  if (project === undefined) return nowhere(session);
  // It may have been made, or have got its name, since the session was read.
  return (
    inProject(session, project) ??
    inProject(await sessions.requireNow(headers), project) ??
    absent(session, project)
  );
}

function personOf({ person_id: id, id: sessionId, email, projects }: SessionRecord) {
  return { id, sessionId, email, projectIds: projects.map((project) => project.id) };
}

/** Where no project is named: what does not belong to one. */
function nowhere(session: SessionRecord): Principal {
  return {
    kind: 'person',
    keyId: session.person_id,
    projectId: '',
    projectName: '',
    scopes: ['view', ...(session.operator ? (['operator'] as const) : [])],
    person: personOf(session),
  };
}

function inProject(session: SessionRecord, idOrName: string): Principal | undefined {
  const wanted = idOrName.toLowerCase();
  const found = session.projects.find(({ id, name }) => id === wanted || name.toLowerCase() === wanted);
  return (
    found && {
      kind: 'person',
      keyId: session.person_id,
      projectId: found.id,
      projectName: found.name,
      scopes: scopesOf[found.role],
      person: personOf(session),
    }
  );
}

function absent({ email }: SessionRecord, idOrName: string): never {
  throw problem('not-found', {
    detail: `There is no project ${idOrName.slice(0, 255)} for ${email}.`,
    remedy: 'Check the id or name in the path; an owner of the project invites.',
  });
}
