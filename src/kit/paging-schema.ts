import { Type, type Static, type TSchema } from 'typebox';
import { shownAs } from './document-schema.ts';

/** How many things a page holds unless told, and how many it may. */
export const usualSize = 200;
const mostSize = 1_000;
/** What the documents of a page hold, such as configs: the one that goes beyond it is its last. */
export const mostPageBytes = 1024 * 1024;

/** What a page of a list is asked for with. */
export const pageQuery = {
  pageSize: Type.Integer({ minimum: 1, maximum: mostSize, default: usualSize }),
  pageToken: Type.Optional(
    Type.String({ maxLength: 240, description: '`nextPageToken` of the page before.' }),
  ),
};

const whenAsked = `With this or \`pageToken\` the answer is a page, ${usualSize} at a time unless told; without, the whole list.`;
/** The same for a list that comes whole when no page is asked for. */
export const optionalPageQuery = {
  pageSize: Type.Optional(Type.Integer({ minimum: 1, maximum: mostSize, description: whenAsked })),
  pageToken: pageQuery.pageToken,
};
const endsEarly = `A page ends early where its things hold ${mostPageBytes / 1024 / 1024} MiB.`;

/** What a page of things that hold documents is asked for with. */
export function documentPageQuery(size: { maximum?: number; default?: number } = {}) {
  const pageSize = Type.Integer({ ...pageQuery.pageSize, ...size, description: endsEarly });
  return { ...pageQuery, pageSize };
}

export const optionalDocumentPageQuery = {
  ...optionalPageQuery,
  pageSize: Type.Optional(
    Type.Integer({ minimum: 1, maximum: mostSize, description: `${whenAsked} ${endsEarly}` }),
  ),
};
export type OptionalPageQuery = Static<ReturnType<typeof optionalQuery>>;
const optionalQuery = () => Type.Object(optionalPageQuery);

export interface Page<Item> {
  results: Item[];
  pagination: { done: boolean; nextPageToken?: string };
}

const closed = { additionalProperties: false } as const;

const pagination = Type.Object(
  {
    done: Type.Boolean({ description: 'Whether this is the last page.' }),
    nextPageToken: Type.Optional(Type.String({ description: 'Asks for the page after this one.' })),
  },
  { ...closed, title: 'Pagination' },
);

/** One page of a list; it takes its name from what it lists. */
export function pageOf<Item extends TSchema & { title?: string }>(item: Item) {
  const named = item.title === undefined ? {} : { title: `${item.title}Page` };
  return Type.Object({ results: Type.Array(item), pagination }, { ...closed, ...named });
}

/** The whole list, or the page that was asked for; the document shows both, the serializer is that of the list. */
export function listOrPageOf<Item extends TSchema & { title?: string }>(item: Item) {
  const list = Type.Array(item);
  const answer = Type.Unsafe<Static<typeof list> | Page<Static<Item>>>(list);
  return shownAs(answer, Type.Union([list, pageOf(item)]));
}
