import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Visitor } from './sessions.ts';
import type { Entered } from './sign-in.ts';

/** Of whom a request is. */
export function visitorOf({ address, headers, id }: FastifyRequest): Visitor {
  return { address, userAgent: headers['user-agent'], cookie: headers.cookie, requestId: id };
}

/** Answers who signed in, with the cookie of the session. */
export function entered(reply: FastifyReply, { answer, cookie }: Entered): FastifyReply {
  if (cookie !== undefined) reply.header('set-cookie', cookie);
  return reply.send(answer);
}
