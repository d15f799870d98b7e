import { createHash } from 'node:crypto';
import { newId } from '../ids.ts';

/** Something that changed, for those who look at it now. */
export interface Change {
  type: string;
  id: string;
  status?: string | undefined;
  /** Whose it is; absent: it belongs to no group. */
  groupRef?: string | undefined;
}

/** A change as it goes from node to node: the group as a hash, which is short whatever the group is called. */
export interface Told {
  type: string;
  id: string;
  status?: string;
  whose?: string;
}

/** More of a type changed than is named: of one group, or without `whose` of any. */
export type More = Pick<Told, 'type' | 'whose'>;

/** What one node tells of one project at once. */
export interface Batch {
  projectId: string;
  /** Every node hears the batches of all in the same order. */
  id: string;
  changes: Told[];
  more: More[];
}

/** A notification takes less than 8,000 bytes; a change about 100, and a group of which more changed about 30. */
const most = { changes: 50, more: 60, bytes: 7_900 };

export function whoseOf(projectId: string, groupRef: string): string {
  return createHash('sha256').update(`${projectId} ${groupRef}`).digest('base64url').slice(0, 12);
}

/** What does not fit into one notification is told as more of its type. */
export function writeBatch(projectId: string, changes: Iterable<Change>): string {
  const told = [...changes].map(({ type, id, status, groupRef }) => ({
    type,
    id,
    status,
    whose: groupRef === undefined ? undefined : whoseOf(projectId, groupRef),
  }));
  for (let named = most.changes; ; named = Math.floor(named / 2)) {
    const text = textOf(projectId, told.slice(0, named), moreOf(told.slice(named)));
    if (Buffer.byteLength(text) <= most.bytes || named === 0) return text;
  }
}

type Untold = { type: string; whose: string | undefined };

function moreOf(left: readonly Untold[]): Untold[] {
  const each = new Map(left.map((one) => [`${one.type} ${one.whose ?? ''}`, one]));
  if (each.size <= most.more) return [...each.values()];
  return [...new Set(left.map(({ type }) => type))].map((type) => ({ type, whose: undefined }));
}

function textOf(
  projectId: string,
  changes: readonly (Untold & { id: string; status: string | undefined })[],
  more: readonly Untold[],
): string {
  const body = [
    changes.map(({ type, id, status = 0, whose = 0 }) => [type, id, status, whose]),
    more.map(({ type, whose = 0 }) => [type, whose]),
  ];
  return `${projectId} ${newId()} ${JSON.stringify(body)}`;
}

function toldOf(type: string, id: string, status: string | 0, whose: string | 0): Told {
  const told: Told = { type, id };
  if (status !== 0) told.status = status;
  if (whose !== 0) told.whose = whose;
  return told;
}

/** Undefined where it cannot be read: a newer node may say it in another way. */
export function readBatch(text: string): Batch | undefined {
  const [, projectId, id, body] = /^(\S+) (\S+) (.*)$/s.exec(text) ?? [];
  if (projectId === undefined || id === undefined || body === undefined) return undefined;
  try {
    const [changes, more] = JSON.parse(body) as [
      [string, string, string | 0, string | 0][],
      [string, string | 0][],
    ];
    return {
      projectId,
      id,
      changes: changes.map(([type, changed, status, whose]) => toldOf(type, changed, status, whose)),
      more: more.map(([type, whose]) => (whose === 0 ? { type } : { type, whose })),
    };
  } catch {
    return undefined;
  }
}

/** Of several batches: of what changed more than once, how it is now. */
export function merged(batches: readonly Batch[]): Pick<Batch, 'changes' | 'more'> {
  const changes = new Map<string, Told>();
  const more = new Map<string, More>();
  for (const batch of batches) {
    for (const one of batch.changes) changes.set(`${one.type} ${one.id}`, one);
    for (const one of batch.more) more.set(`${one.type} ${one.whose ?? ''}`, one);
  }
  return { changes: [...changes.values()], more: [...more.values()] };
}
