import type { FastifyCorsOptions } from '@fastify/cors';
import type { FastifyRequest } from 'fastify';

export interface CrossOrigin {
  /** Paths that pages of other origins may call. */
  prefix: string;
  /** Whether a page of this origin may make the request, and read its answer. */
  allows: (origin: string, url: string) => Promise<boolean>;
}

// How long a browser may remember a preflight; a removed origin may call for so long.
const rememberedSeconds = 600;

/** Without `credentials`: callers identify themselves by headers, never by a cookie. */
const rules: FastifyCorsOptions = {
  methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
  exposedHeaders: [
    'Deprecation',
    'ETag',
    'Idempotent-Replayed',
    'Retry-After',
    'WWW-Authenticate',
    'X-Request-Id',
    'X-Svc-Warnings',
  ],
  maxAge: rememberedSeconds,
  strictPreflight: false,
};

type Delegator = (
  request: FastifyRequest,
  answer: (error: Error | null, options?: FastifyCorsOptions) => void,
) => void;

/** The CORS headers (fetch.spec.whatwg.org). */
export function rulesFor({ prefix, allows }: CrossOrigin): { delegator: Delegator } {
  return {
    delegator({ headers: { origin }, url }, answer) {
      if (origin === undefined || !url.startsWith(prefix)) return answer(null, { origin: false });
      allows(origin, url).then(
        (isAllowed) => answer(null, isAllowed ? { ...rules, origin } : { origin: false }),
        (error: unknown) => answer(error as Error),
      );
    },
  };
}
