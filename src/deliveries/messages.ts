import { createHash, randomBytes } from 'node:crypto';
import { newId } from '../kit/ids.ts';
import { encode, type Encoding } from './encoding.ts';
import type { LaneKey } from '../lanes/index.ts';
import type { RecordKey } from './kind.ts';

/** What a message tells beside its records; its members stand in the body in this order. */
export interface Envelope {
  action: 'read';
  projectId: string;
  provider: string;
  groupRef: string;
  groupName: string;
  consumerRef: string;
  consumerName: string;
  installationId: string;
  installationUpdateTime: string;
  objectName: string;
  rawObjectName: string;
  workspace?: string | undefined;
  operationId?: string | undefined;
  operationTime?: string | undefined;
  readType?: 'backfill' | 'scheduled' | 'triggered' | undefined;
}

const order: readonly (keyof Envelope)[] = [
  'action',
  'projectId',
  'provider',
  'groupRef',
  'groupName',
  'consumerRef',
  'consumerName',
  'installationId',
  'installationUpdateTime',
  'objectName',
  'rawObjectName',
  'workspace',
  'operationId',
  'operationTime',
  'readType',
];

/** One record of a message, as JSON. */
export interface MessageEntry {
  json: string;
  key: RecordKey;
}

/** Where messages come from and where they go. */
export interface MessageOrigin {
  projectId: string;
  operationId: string | null;
  installationId: string;
  groupRef: string;
  object: string;
  destinationId: string;
  page: number;
  /** Where receivers reach this service; a link to a large record begins with it. */
  publicUrl: string;
}

/** A message that is not stored yet. */
export interface NewMessage extends Omit<MessageOrigin, 'publicUrl'> {
  id: string;
  /** The provider's name of the object, where that is another. */
  rawObject: string | null;
  slice: number;
  records: number;
  /** Of the body as it is sent. */
  bytes: number;
  encoding: Encoding;
  body: Buffer;
  /** The records, where the body only links to them. */
  result: Buffer | null;
  linkHash: Buffer | null;
  /** As JSON, for each record `[id, version, 1 if deleted]`. */
  keys: string;
  /** The body as it is sent, while it is at hand. */
  plain: Buffer;
  /** The lane of this node in which its work is to stand as started. */
  node?: Pick<LaneKey, 'id' | 'lease'>;
}

/** The longest body, in bytes. */
export const mostBodyBytes = 300_000;
/** Room for `"resultInfo":{"type":"inline","numRecords":…},"result":[]}` and a comma. */
const frameBytes = 100;

/**
 * Cuts the entries, in their order, into messages of at most {@link mostBodyBytes}. A record that is larger by itself becomes a
 * message that links to it.
 */
export async function cutMessages(
  envelope: Envelope,
  entries: readonly MessageEntry[],
  origin: MessageOrigin,
): Promise<NewMessage[]> {
  const { rawObjectName } = envelope;
  const named = Object.assign({ rawObject: rawObjectName === origin.object ? null : rawObjectName }, origin);
  const head = headOf(envelope);
  const room = mostBodyBytes - Buffer.byteLength(head) - frameBytes;
  return Promise.all(slicesOf(entries, room).map((slice, at) => messageOf(head, slice, at, named)));
}

async function messageOf(
  head: string,
  { entries, isLarge }: Slice,
  slice: number,
  { publicUrl, ...origin }: MessageOrigin & Pick<NewMessage, 'rawObject'>,
): Promise<NewMessage> {
  const id = newId();
  const link = isLarge ? linkTo(publicUrl, origin.projectId, id) : undefined;
  const body = Buffer.from(link ? linkingBody(head, entries.length, link.url) : inlineBody(head, entries));
  const { encoding, encoded } = await encode(link ? [body, Buffer.from(resultOf(entries))] : [body]);
  const [encodedBody = body, encodedResult = null] = encoded;
  return {
    ...origin,
    id,
    slice,
    records: entries.length,
    bytes: body.length,
    encoding,
    body: encodedBody,
    plain: body,
    result: encodedResult,
    linkHash: link ? hashOf(link.secret) : null,
    keys: JSON.stringify(entries.map(({ key }) => [key.id, key.version, key.deleted ? 1 : 0])),
  };
}

interface Slice {
  entries: MessageEntry[];
  /** It is one record that fits no message. */
  isLarge: boolean;
}

function slicesOf(entries: readonly MessageEntry[], room: number): Slice[] {
  const slices: Slice[] = [];
  let left = 0;
  for (const entry of entries) {
    const bytes = Buffer.byteLength(entry.json) + 1;
    const last = slices.at(-1);
    if (bytes > room) {
      slices.push({ entries: [entry], isLarge: true });
      left = 0;
    } else if (last && bytes <= left) {
      last.entries.push(entry);
      left -= bytes;
    } else {
      slices.push({ entries: [entry], isLarge: false });
      left = room - bytes;
    }
  }
  return slices;
}

/** The body up to `resultInfo`. */
function headOf(envelope: Envelope): string {
  const members = Object.fromEntries(order.map((name) => [name, envelope[name]]));
  return JSON.stringify(members).slice(0, -1);
}

/** Made of text once: what is signed, stored and sent is never written anew from a value. */
function inlineBody(head: string, entries: readonly MessageEntry[]): string {
  return `${head},"resultInfo":{"type":"inline","numRecords":${entries.length}},"result":${resultOf(entries)}}`;
}

function resultOf(entries: readonly MessageEntry[]): string {
  return `[${entries.map(({ json }) => json).join(',')}]`;
}

function linkingBody(head: string, numRecords: number, downloadUrl: string): string {
  return `${head},"resultInfo":${JSON.stringify({ type: 'url', numRecords, downloadUrl })}}`;
}

/** Whoever has the link may read the record: nothing else protects it. */
function linkTo(publicUrl: string, projectId: string, id: string): { url: string; secret: string } {
  const secret = randomBytes(32).toString('base64url');
  const query = new URLSearchParams({ projectId, secret });
  return { url: `${publicUrl}/v1/messages/${id}/result?${query.toString()}`, secret };
}

export function hashOf(secret: string): Buffer {
  return createHash('sha256').update(secret).digest();
}

/** The records of a stored message; `keys` as it stands in the row. */
export function recordKeysIn(keys: string): RecordKey[] {
  return (JSON.parse(keys) as [string, string, 0 | 1][]).map(([id, version, deleted]) => ({
    id,
    version,
    deleted: deleted === 1,
  }));
}
