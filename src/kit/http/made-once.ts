import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, gzip } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';

interface Made {
  etag: string;
  /** By content coding, the preferred one first. */
  bodies: Map<string, Buffer>;
}

/** Answers with a JSON document that is the same for everybody: serialized and compressed at the first request, then kept. */
export function madeOnce(
  document: () => unknown,
): (request: FastifyRequest, reply: FastifyReply) => Promise<void> {
  let made: Promise<Made> | undefined;
  return async (request, reply) => {
    const { etag, bodies } = await (made ??= make(JSON.stringify(document())));
    reply.headers({
      etag,
      'cache-control': 'public, no-cache',
      vary: [reply.getHeader('vary'), 'Accept-Encoding'].filter(Boolean).join(', '),
    });
    if (namesTag(request.headers['if-none-match'], etag)) {
      reply.code(304).send();
      return;
    }
    const coding = chosen(request.headers['accept-encoding'] ?? '', [...bodies.keys()]);
    if (coding !== 'identity') reply.header('content-encoding', coding);
    reply.type('application/json; charset=utf-8').send(bodies.get(coding));
  };
}

async function make(text: string): Promise<Made> {
  const [br, gz] = await Promise.all([promisify(brotliCompress)(text), promisify(gzip)(text)]);
  const bodies = new Map([
    ['br', br],
    ['gzip', gz],
    ['identity', Buffer.from(text)],
  ]);
  // Weak: the same document in whatever coding (RFC 9110, 8.8.1).
  return { etag: `W/"${createHash('sha256').update(text).digest('base64url').slice(0, 27)}"`, bodies };
}

/** RFC 9110, 13.1.2: compared weakly. */
function namesTag(header: string | undefined, etag: string): boolean {
  const opaque = (tag: string): string => tag.trim().replace(/^W\//, '');
  return (header ?? '').split(',').some((tag) => tag.trim() === '*' || opaque(tag) === opaque(etag));
}

/** The first of our codings that the caller accepts (RFC 9110, 12.5.3), or the plain document. */
function chosen(accepted: string, codings: readonly string[]): string {
  const weights = new Map(
    accepted
      .toLowerCase()
      .split(',')
      .map((part) => {
        const [name = '', ...parameters] = part.split(';').map((each) => each.trim());
        const q = parameters.find((each) => each.startsWith('q='))?.slice(2);
        return [name, q === undefined ? 1 : Number(q)] as const;
      }),
  );
  return codings.find((coding) => (weights.get(coding) ?? weights.get('*') ?? 0) > 0) ?? 'identity';
}
