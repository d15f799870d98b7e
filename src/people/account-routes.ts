import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { sendList } from '../kit/http/list.ts';
import type { HttpServer } from '../kit/http/server.ts';
import { listOrPageOf, optionalPageQuery } from '../kit/paging-schema.ts';
import { listOrPageOfAll } from '../kit/paging.ts';
import type { SignedInPerson } from '../projects/index.ts';
import { problem } from '../kit/problem.ts';
import type { People } from './people.ts';
import {
  BeginSecondFactorRequest,
  NewSecondFactor,
  PasswordChange,
  PersonUpdate,
  ProvePassword,
  RecoveryCodes,
  SecondFactorCode,
  Session,
  SignedIn,
} from './schema.ts';
import { visitorOf } from './visitor.ts';

const closed = { additionalProperties: false } as const;
const tags = ['people'];
const config = { scopes: 'signedIn' as const };

/** What somebody does with their own account, below `/v1`. */
export function accountRoutes(people: People): (server: HttpServer) => Promise<void> {
  return async (server) => {
    sessions(server, people);
    person(server, people);
    secondFactor(server, people);
  };
}

function whoOf({ principal }: FastifyRequest): SignedInPerson {
  if (principal.person) return principal.person;
  throw problem('forbidden');
}

function sessions(server: HttpServer, { account }: People): void {
  server.route({
    method: 'GET',
    url: '/sessions',
    schema: {
      operationId: 'listSessions',
      summary: 'List your own sessions',
      tags,
      querystring: Type.Object(optionalPageQuery, closed),
      response: { 200: listOrPageOf(Session) },
    },
    config,
    handler: async (request, reply) =>
      sendList(reply, listOrPageOfAll(request.query, await account.sessions(whoOf(request)))),
  });
  server.route({
    method: 'DELETE',
    url: '/sessions/:sessionId',
    schema: {
      operationId: 'endSession',
      summary: 'End a session of your own',
      tags,
      params: Type.Object({ sessionId: Type.String() }, closed),
      response: { 204: Type.Null() },
    },
    config,
    handler: async (request, reply) => {
      await account.endSession(whoOf(request), request.params.sessionId);
      return reply.code(204).send(null);
    },
  });
}

function person(server: HttpServer, people: People): void {
  const { account } = people;
  server.route({
    method: 'PATCH',
    url: '/person',
    schema: {
      operationId: 'updatePerson',
      summary: 'Change your own name',
      tags,
      body: PersonUpdate,
      response: { 200: SignedIn },
    },
    config,
    handler: async (request) => {
      await account.rename(whoOf(request), request.body.name);
      return people.whoIs(request.headers);
    },
  });
  server.route({
    method: 'POST',
    url: '/person::change-password',
    schema: {
      operationId: 'changePassword',
      summary: 'Change your own password',
      description: 'Your other sessions end.',
      tags,
      body: PasswordChange,
      response: { 204: Type.Null() },
    },
    config,
    handler: async (request, reply) => {
      await account.changePassword(whoOf(request), request.body, visitorOf(request));
      return reply.code(204).send(null);
    },
  });
}

function secondFactor(server: HttpServer, { account }: People): void {
  const url = '/person/second-factor';
  server.route({
    method: 'POST',
    url,
    schema: {
      operationId: 'beginSecondFactor',
      summary: 'Set up a second factor',
      description:
        'Nothing asks for it until a code was confirmed. `password` is the one that you have: a session alone may not shut you out. Who has none leaves it out.',
      tags,
      body: BeginSecondFactorRequest,
      response: { 201: NewSecondFactor },
    },
    config,
    handler: async (request, reply) => {
      const password = request.body?.password;
      const begun = await account.beginSecondFactor(whoOf(request), password, visitorOf(request));
      return reply.code(201).send(begun);
    },
  });
  server.route({
    method: 'POST',
    url: `${url}::confirm`,
    schema: {
      operationId: 'confirmSecondFactor',
      summary: 'Confirm a second factor by its first code',
      description: 'Answers the recovery codes, which are shown once. Your other sessions end.',
      tags,
      body: SecondFactorCode,
      response: { 200: RecoveryCodes },
    },
    config,
    handler: async (request) => ({
      recoveryCodes: await account.confirmSecondFactor(whoOf(request), request.body.code, visitorOf(request)),
    }),
  });
  server.route({
    method: 'POST',
    url: `${url}::remove`,
    schema: {
      operationId: 'removeSecondFactor',
      summary: 'Remove your second factor',
      description: 'Your other sessions end.',
      tags,
      body: ProvePassword,
      response: { 204: Type.Null() },
    },
    config,
    handler: async (request, reply) => {
      await account.removeSecondFactor(whoOf(request), request.body.password, visitorOf(request));
      return reply.code(204).send(null);
    },
  });
}
