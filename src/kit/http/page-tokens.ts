import { createHash } from 'node:crypto';
import type {
  FastifyInstance,
  FastifyRequest,
  preHandlerHookHandler,
  preSerializationHookHandler,
} from 'fastify';
import { badToken } from '../paging.ts';

/** Stands between the place in a list and what the token is bound to; no place holds it, since it is in base64url. */
const mark = '.';
const boundCharacters = 12;

/** Whose lists a caller is shown. */
export type ListOwner = (request: FastifyRequest) => string | undefined;

/**
 * Binds each page token to its list: its owner, the operation, what its path names, and the filters. Rooms give and take places alone;
 * a token of another list, or of the same under other filters, is refused before they see it.
 */
export function bindPageTokens(
  server: Pick<FastifyInstance, 'addHook'>,
  ownerOf: ListOwner = () => undefined,
): void {
  server.addHook('onRoute', (route) => {
    const { properties } = Object(route.schema?.querystring) as { properties?: object };
    if (!properties || !('pageToken' in properties)) return;
    route.preHandler = [route.preHandler ?? []].flat().concat(takePlace(ownerOf));
    route.preSerialization = [route.preSerialization ?? []].flat().concat(bindPlace(ownerOf));
  });
}

function takePlace(ownerOf: ListOwner): preHandlerHookHandler {
  return (request, _reply, done) => {
    const query = request.query as { pageToken?: string };
    if (query.pageToken === undefined) return done();
    const [place = '', bound] = query.pageToken.split(mark);
    if (bound !== boundTo(request, ownerOf(request))) return done(badToken());
    query.pageToken = place;
    done();
  };
}

function bindPlace(ownerOf: ListOwner): preSerializationHookHandler {
  return (request, _reply, payload, done) => {
    const { pagination } = Object(payload) as { pagination?: { nextPageToken?: string } };
    if (pagination?.nextPageToken === undefined) return done(null, payload);
    const nextPageToken = `${pagination.nextPageToken}${mark}${boundTo(request, ownerOf(request))}`;
    done(null, Object.assign(payload as object, { pagination: { ...pagination, nextPageToken } }));
  };
}

/** A path names its project by id or name: the owner says which. A page may have another size than the one before. */
function boundTo({ routeOptions, params, query }: FastifyRequest, owner: string | undefined): string {
  const { projectIdOrName: _project, ...path } = Object(params) as Record<string, unknown>;
  const { pageToken: _token, pageSize: _size, ...filters } = Object(query) as Record<string, unknown>;
  const members = [path, filters].map((part) =>
    Object.entries(part).toSorted(([a], [b]) => (a < b ? -1 : 1)),
  );
  const list = JSON.stringify([owner, routeOptions.method, routeOptions.url, members]);
  return createHash('sha256').update(list).digest('base64url').slice(0, boundCharacters);
}
