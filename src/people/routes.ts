import { Type } from 'typebox';
import type { HttpServer } from '../kit/http/server.ts';
import type { Projects } from '../projects/index.ts';
import { assertOwnPage } from './browser.ts';
import type { People } from './people.ts';
import { accountRoutes } from './account-routes.ts';
import { memberRoutes } from './member-routes.ts';
import { entered, visitorOf } from './visitor.ts';
import {
  AcceptInvitationRequest,
  InvitationLook,
  LookAtInvitationRequest,
  SignedIn,
  SignInAnswer,
  SignInOptions,
  SignInRequest,
  VerifyRequest,
} from './schema.ts';

const tags = ['people'];
/** Besides what its body may have wrong. */
const enteringFails = ['sign-in-refused', 'cross-origin', 'sign-in-slowed'] as const;

/** Below `/v1`. */
export function peopleRoutes(
  people: People,
  projects: Pick<Projects, 'resolveProject'>,
): (server: HttpServer) => Promise<void> {
  return async (server) => {
    signingIn(server, people);
    verifying(server, people);
    session(server, people);
    accepting(server, people);
    await server.register(accountRoutes(people));
    await server.register(memberRoutes({ members: people.members, projects }));
  };
}

function signingIn(server: HttpServer, people: People): void {
  server.route({
    method: 'GET',
    url: '/sign-in',
    schema: {
      operationId: 'getSignInOptions',
      summary: 'How one may sign in',
      tags,
      response: { 200: SignInOptions },
    },
    config: { scopes: 'public' },
    handler: () => people.options(),
  });
  server.route({
    method: 'POST',
    url: '/session',
    schema: {
      operationId: 'signIn',
      summary: 'Sign in with e-mail address and password',
      description:
        'Sets the cookie of the session. Whoever has a second factor goes on with `POST /v1/session:verify`.',
      tags,
      body: SignInRequest,
      response: { 200: SignInAnswer },
    },
    config: { scopes: 'public', fails: enteringFails },
    handler: async (request, reply) => {
      assertOwnPage(request.headers, people.publicUrl);
      return entered(reply, await people.signIn(request.body, visitorOf(request)));
    },
  });
}

function verifying(server: HttpServer, people: People): void {
  server.route({
    method: 'POST',
    url: '/session::verify',
    schema: {
      operationId: 'verifySecondFactor',
      summary: 'Sign in with the second factor, after the password',
      tags,
      body: VerifyRequest,
      response: { 200: SignInAnswer },
    },
    config: { scopes: 'public', fails: enteringFails },
    handler: async (request, reply) => {
      assertOwnPage(request.headers, people.publicUrl);
      const { headers, body } = request;
      return entered(reply, await people.verify(body, visitorOf(request), headers));
    },
  });
}

function session(server: HttpServer, people: People): void {
  server.route({
    method: 'GET',
    url: '/session',
    schema: {
      operationId: 'getSession',
      summary: 'Who is signed in, and what they may do',
      tags,
      response: { 200: SignedIn },
    },
    config: { scopes: 'signedIn' },
    handler: (request) => people.whoIs(request.headers),
  });
  server.route({
    method: 'DELETE',
    url: '/session',
    schema: {
      operationId: 'signOut',
      summary: 'Sign out',
      tags,
      response: { 204: Type.Null() },
    },
    config: { scopes: 'signedIn' },
    handler: async (request, reply) => {
      const { id = '', sessionId = '' } = request.principal.person ?? {};
      await people.signOut(id, sessionId);
      return reply.code(204).header('set-cookie', people.sessions.cookie.clear()).send(null);
    },
  });
}

function accepting(server: HttpServer, people: People): void {
  server.route({
    method: 'POST',
    url: '/invitations::look',
    schema: {
      operationId: 'lookAtInvitation',
      summary: 'What a link of an invitation is for',
      tags,
      body: LookAtInvitationRequest,
      response: { 200: InvitationLook },
    },
    config: { scopes: 'public', fails: ['invitation-over'] },
    handler: (request) => people.lookAt(request.body.token),
  });
  server.route({
    method: 'POST',
    url: '/invitations::accept',
    schema: {
      operationId: 'acceptInvitation',
      summary: 'Accept an invitation, and sign in',
      description:
        'Who has no account gets one with this password. Who has one proves it by the password, or by being signed in.',
      tags,
      body: AcceptInvitationRequest,
      response: { 200: SignInAnswer },
    },
    config: { scopes: 'public', fails: [...enteringFails, 'invitation-over', 'password-unfit'] },
    handler: async (request, reply) => {
      assertOwnPage(request.headers, people.publicUrl);
      const { headers, body } = request;
      return entered(reply, await people.accept(body, visitorOf(request), headers));
    },
  });
}
