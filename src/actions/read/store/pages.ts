import type { Queryable } from '../../../kit/db/database.ts';
import { statement } from '../../../kit/db/statement.ts';
import { fenced } from '../../../lanes/index.ts';
import {
  messageColumns,
  messageParts,
  standing,
  type NewMessage,
  type StartedMessage,
} from '../../../deliveries/index.ts';
import { linkColumns, linkParts, type Link } from './links.ts';
import { runOfFeed } from './runs.ts';
import { timestampOf } from './times.ts';

/** Pages that were read one after the other: where the run goes on behind them, what they add, and the messages made of them. */
export interface Page {
  projectId: string;
  operationId: string;
  seq: string;
  lease: string;
  /** The number of the last one, from 1, and how many they are: they are kept only behind the page before them. */
  page: number;
  pages: number;
  cursor: string | null;
  deleted: boolean;
  /** Of the whole run, with this page. */
  processed: number;
  emitted: number;
  estimated: number | null;
  /** Milliseconds since the epoch: from and until when the run reads, earlier than it was begun with where the provider's clock is behind. */
  since: number | null;
  until: number;
  /** Who is read for. */
  groupRef: string;
  /** Where its records go. */
  destinationId: string;
  /** Records that the next run will find again. */
  hashes: Buffer;
  /** What is remembered of the associations of records; missing where nothing is. */
  links?: readonly Link[];
  made: readonly NewMessage[];
}

const firstOfMessages = 16;
const firstOfLinks = firstOfMessages + messageColumns([]).length;

/**
 * The place of a run, its messages and their deliveries are one commit, while the fence of the run holds, its feed names it and its destination
 * is there: a node may remember one that was deleted elsewhere, and a deletion counts what was queued before. Its operation is left alone: what counts deliveries there would wait for each page, and each page for it.
 */
const keepText = (also: string): string => `WITH clock AS MATERIALIZED (SELECT svc_now() AS now),
  input AS MATERIALIZED (
    SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::bigint[], $4::uuid[], $5::int[], $6::text[], $7::boolean[], $8::bigint[],
      $9::bigint[], $10::bigint[], $11::text[], $12::int[], $13::uuid[], $14::float8[], $15::float8[]) WITH ORDINALITY
      AS i(project_id, id, seq, lease, page, cursor, deleted, processed, emitted, estimated, hashes, pages, destination_id, since_ms, until_ms, n)),
  ${fenced('input')},
  ${standing('fenced')},
  moved AS (
    UPDATE read_run r SET cursor = i.cursor, deleted = i.deleted, page = i.page, processed = i.processed, emitted = i.emitted,
      estimated = i.estimated, since = least(r.since, ${timestampOf('i.since_ms')}), until = least(r.until, ${timestampOf('i.until_ms')}), failures = 0, failing_since = NULL, told = '{}'
    FROM standing i WHERE r.project_id = i.project_id AND r.id = i.id AND r.page = i.page - i.pages
      AND (r.type = 'triggered' OR r.id = (
        SELECT ${runOfFeed} FROM read_feed f
        WHERE f.project_id = r.project_id AND f.installation_id = r.installation_id AND f.object = r.object
          AND f.kind = CASE r.type WHEN 'associations' THEN 'associations' ELSE 'records' END))
    RETURNING i.n, i.project_id, i.id, i.page, i.hashes, r.installation_id, r.object),
  seen AS (
    INSERT INTO read_seen (project_id, installation_id, object, run_id, page, hashes)
    SELECT project_id, installation_id, object, id, page, decode(hashes, 'base64') FROM moved WHERE hashes <> ''),
  ${also}${messageParts(firstOfMessages, 'moved')}
  SELECT m.n::int, s.started FROM moved m LEFT JOIN started s ON s.n = m.n`;
const keepPages = statement('read_page', keepText(''));
const keepLinked = statement('read_page_linked', keepText(`${linkParts(firstOfLinks, 'moved')},\n  `));

/** Of a page that was kept, the messages that are started. */
export type Kept = StartedMessage[];

/** Undefined for a page that was not kept: its run is in other hands, is further, or was dropped with its feed, or its destination was deleted. */
export async function keep(db: Queryable, pages: readonly Page[]): Promise<(Kept | undefined)[]> {
  const column = <T>(read: (page: Page) => T): T[] => pages.map(read);
  const numbered = <Part>(parts: (page: Page) => readonly Part[]): (Part & { n: number })[] =>
    pages.flatMap((page, at) => parts(page).map((part) => Object.assign({}, part, { n: at + 1 })));
  const links = numbered(({ links: some = [] }) => some);
  const rows = await db.rows<{ n: number; started: Kept | null }>(links.length > 0 ? keepLinked : keepPages, [
    column((one) => one.projectId),
    column((one) => one.operationId),
    column((one) => one.seq),
    column((one) => one.lease),
    column((one) => one.page),
    column((one) => one.cursor),
    column((one) => one.deleted),
    column((one) => one.processed),
    column((one) => one.emitted),
    column((one) => one.estimated),
    column((one) => one.hashes.toString('base64')),
    column((one) => one.pages),
    column((one) => one.destinationId),
    column((one) => one.since),
    column((one) => one.until),
    ...messageColumns(numbered(({ made }) => made)),
    ...(links.length > 0 ? linkColumns(links) : []),
  ]);
  const kept = new Map(rows.map(({ n, started }) => [n, started ?? []]));
  return pages.map((_, at) => kept.get(at + 1));
}

const seenBefore = statement(
  'read_seen_before',
  `SELECT hashes FROM read_seen WHERE project_id = $1 AND installation_id = $2 AND object = $3 AND run_id <> $4`,
);

/** What earlier runs of the feed delivered, as hashes of 12 bytes behind one another. */
export async function seenBy(
  db: Queryable,
  feed: { projectId: string; installationId: string; objectName: string },
  operationId: string,
): Promise<Buffer[]> {
  const values = [feed.projectId, feed.installationId, feed.objectName.toLowerCase(), operationId];
  return (await db.rows<{ hashes: Buffer }>(seenBefore, values)).map(({ hashes }) => hashes);
}
