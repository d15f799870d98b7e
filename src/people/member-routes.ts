import { Type } from 'typebox';
import { sendList } from '../kit/http/list.ts';
import type { HttpServer } from '../kit/http/server.ts';
import { listOrPageOf, optionalPageQuery } from '../kit/paging-schema.ts';
import { listOrPageOfAll } from '../kit/paging.ts';
import type { Projects } from '../projects/index.ts';
import type { Members } from './members.ts';
import { Invitation, InvitationRequest, Member, MemberUpdate } from './schema.ts';

const closed = { additionalProperties: false } as const;
const tags = ['people'];
const project = { projectIdOrName: Type.String({ description: 'Project id or name.' }) };
const ProjectParams = Type.Object(project, closed);
const MemberParams = Type.Object({ ...project, personId: Type.String() }, closed);
const InvitationParams = Type.Object({ ...project, invitationId: Type.String() }, closed);
const PageQuery = Type.Object(optionalPageQuery, closed);
const membersUrl = '/projects/:projectIdOrName/members';
const invitationsUrl = '/projects/:projectIdOrName/invitations';
const reading = { scopes: ['read' as const], projectWide: true as const };
/** Only an owner decides who sees the project. */
const owned = { scopes: 'owned' as const, projectWide: true as const };

export interface MemberRouteDeps {
  members: Members;
  projects: Pick<Projects, 'resolveProject'>;
}

/** Who works with a project, below `/v1`. */
export function memberRoutes(deps: MemberRouteDeps): (server: HttpServer) => Promise<void> {
  return async (server) => {
    members(server, deps);
    inviting(server, deps);
  };
}

function members(server: HttpServer, { members: all, projects }: MemberRouteDeps): void {
  server.route({
    method: 'GET',
    url: membersUrl,
    schema: {
      operationId: 'listMembers',
      summary: 'List the people of a project',
      tags,
      params: ProjectParams,
      querystring: PageQuery,
      response: { 200: listOrPageOf(Member) },
    },
    config: reading,
    handler: async ({ principal, params, query }, reply) => {
      const { id } = projects.resolveProject(principal, params.projectIdOrName);
      return sendList(reply, listOrPageOfAll(query, await all.list(id)));
    },
  });
  server.route({
    method: 'PATCH',
    url: `${membersUrl}/:personId`,
    schema: {
      operationId: 'updateMember',
      summary: 'Give somebody another role',
      tags,
      params: MemberParams,
      body: MemberUpdate,
      response: { 200: Member },
    },
    config: owned,
    handler: ({ principal, params, body }) =>
      all.update(projects.resolveProject(principal, params.projectIdOrName).id, params.personId, body.role),
  });
  server.route({
    method: 'DELETE',
    url: `${membersUrl}/:personId`,
    schema: {
      operationId: 'removeMember',
      summary: 'Remove somebody from a project',
      description:
        'What they have open in a browser loses the project at once, on other nodes within two seconds.',
      tags,
      params: MemberParams,
      response: { 204: Type.Null() },
    },
    config: owned,
    handler: async ({ principal, params }, reply) => {
      await all.remove(projects.resolveProject(principal, params.projectIdOrName).id, params.personId);
      return reply.code(204).send(null);
    },
  });
}

function inviting(server: HttpServer, { members: all, projects }: MemberRouteDeps): void {
  server.route({
    method: 'POST',
    url: invitationsUrl,
    schema: {
      operationId: 'createInvitation',
      summary: 'Invite somebody to a project by a link',
      description:
        'The link holds for a week, once, and for this e-mail address. It is shown once; an invitation for the same address takes the place of the one before.',
      tags,
      params: ProjectParams,
      body: InvitationRequest,
      response: { 201: Invitation },
    },
    config: owned,
    handler: async ({ principal, params, body }, reply) => {
      const { id } = projects.resolveProject(principal, params.projectIdOrName);
      return reply
        .code(201)
        .header('cache-control', 'no-store')
        .send(await all.invite(id, body));
    },
  });
  server.route({
    method: 'GET',
    url: invitationsUrl,
    schema: {
      operationId: 'listInvitations',
      summary: 'List the invitations that wait, newest first',
      tags,
      params: ProjectParams,
      querystring: PageQuery,
      response: { 200: listOrPageOf(Invitation) },
    },
    config: reading,
    handler: async ({ principal, params, query }, reply) => {
      const { id } = projects.resolveProject(principal, params.projectIdOrName);
      return sendList(reply, await all.invitations(id, query));
    },
  });
  server.route({
    method: 'DELETE',
    url: `${invitationsUrl}/:invitationId`,
    schema: {
      operationId: 'deleteInvitation',
      summary: 'Take an invitation back',
      tags,
      params: InvitationParams,
      response: { 204: Type.Null() },
    },
    config: owned,
    handler: async ({ principal, params }, reply) => {
      await all.takeBack(projects.resolveProject(principal, params.projectIdOrName).id, params.invitationId);
      return reply.code(204).send(null);
    },
  });
}
