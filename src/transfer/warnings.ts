import type { Differing } from '../kit/db/portable.ts';
import { valuesOf, withoutConnection, type Content } from './content.ts';
import type { Export } from './schema.ts';

interface Head {
  moved: boolean;
}

/** What an operator has to know of a file, where it is made and where it comes in. */
export async function warningsOf({ moved }: Head, content: Content): Promise<Export['warnings']> {
  const told = [
    ...usedTwice(moved ? 0 : await countUsed(content)),
    ...unconnected((await withoutConnection(content)).map(({ groupRef }) => groupRef)),
  ];
  return told.map((message) => ({ message }));
}

/** Of connections that an earlier export moved away: the file has them as they were then. */
export function movedEarlier(groups: readonly string[]): Export['warnings'] {
  if (groups.length === 0) return [];
  const message = `Moved away by an earlier export, and in this file as they were then: connections ${groups.length} (${listed(groups)}). Where a file of that export came in they are used, and a second server that uses them ends the tokens of the first: import this file nowhere else.`;
  return [{ message }];
}

/** Of connections whose renewal was begun by a node that went away, or is cut off from the database. */
export function renewalUnended(groups: readonly string[]): Export['warnings'] {
  if (groups.length === 0) return [];
  const message = `Moved while a renewal was begun whose end is not known, as its node went away or lost the database: connections ${groups.length} (${listed(groups)}). Where the provider gave new tokens, those in this file may be dead: see whether they work where it comes in, GET …/connections/{id}?refresh=force. Who of these does not work connects again there.`;
  return [{ message }];
}

interface Meanwhile {
  /** The groups of connections that are not used here. */
  moved: readonly string[];
  /** What the file has otherwise than it is here and is left, by kind. */
  differing: Readonly<Record<string, readonly Differing[]>>;
  /** What was used here and is replaced, by kind. */
  over: Readonly<Record<string, readonly string[]>>;
  /** What was deleted here before and came in now, by kind and name. */
  again: Readonly<Record<string, readonly string[]>>;
  /** What is here and not in the file, by kind and name. */
  missing: Readonly<Record<string, readonly string[]>>;
  /** The file was to hand its connections over, and its release did not say so in it. */
  isFormerMove: boolean;
}

/** What changed elsewhere and was left here as it is. */
export function meanwhile({
  moved,
  differing,
  over,
  again,
  missing,
  isFormerMove,
}: Meanwhile): Export['warnings'] {
  const { connections = [], ...others } = differing;
  const handed = namesOf(connections.filter(({ how }) => how === 'handed'));
  const kept = namesOf(
    connections.filter(({ how }) => how === 'later' || (how === 'earlier' && isFormerMove)),
  );
  const replaced = named(over, (names) => names);
  const left = named(others, namesOf);
  const secrets = named(others, (rows) => namesOf(rows.filter(({ hasOtherSecret }) => hasOtherSecret)));
  const extra = named(missing, (names) => names);
  const { apiKeys: keys = [] } = missing;
  const { connections: back = [], apiKeys = [], jwtKeys = [], ...rest } = again;
  const revoked = named({ apiKeys, jwtKeys }, (names) => names);
  const anew = named(rest, (names) => names);
  const told = [
    moved.length > 0 &&
      `Not used here, since an export moved them away and the file does not hand them over since then: connections ${moved.length} (${listed(moved)}). Export with "move" where they are used and import that file, or take them back as they were: POST …/exports:undo.`,
    kept.length > 0 &&
      `Changed where the file was made, and left as they are here: connections ${kept.length} (${listed(kept)}). Export with "move" there and import that file: one without it, or of an earlier release, hands nothing over.`,
    handed.length > 0 &&
      `Handed over by the file, and left as they are here, where they were signed in, renewed or handed over later, or as those of the file are dead: connections ${handed.length} (${listed(handed)}). Who of these does not work here connects again here.`,
    replaced !== '' &&
      `Used here until now, and replaced by those of the file, which were signed in or renewed last: ${replaced}. What was here is not kept.`,
    back.length > 0 &&
      `Deleted here before, and here again by the file: connections ${back.length} (${listed(back)}). Delete them once more if they are used where the project went since: of two servers that renew, the first ends the tokens of the other.`,
    revoked !== '' &&
      `Deleted here before, and here again by the file, but revoked: ${revoked}. Delete them once more, or turn on which is to be good here: PATCH …/api-keys/{id} or …/jwt-keys/{id} with the mask "active".`,
    anew !== '' &&
      `Deleted here before, and here again by the file: ${anew}. Delete once more what is not to be here.`,
    left !== '' &&
      `Left as it is here, while it is different in the file: ${left}. Change here what is to be as it was there.`,
    secrets !== '' &&
      `Of these the file has another secret or signing key, and that of here is used on: ${secrets}. Who verifies by the signing key of there refuses what is signed here: give the destination that key, PATCH …/destinations/{name} with the mask "secrets.webhookSigningKey".`,
    extra !== '' &&
      `Here and not in the file, as it was deleted there or made here since, and left as it is: ${extra}. Delete here what was deleted there${keys.length > 0 ? ': an API key of these is good here' : ''}.`,
  ];
  return told.filter((message) => message !== false).map((message) => ({ message }));
}

const namesOf = (rows: readonly Differing[]): string[] => rows.map(({ name }) => name);

/** Each kind of which there is something, with how much and its names. */
function named<T>(found: Readonly<Record<string, T>>, nameEach: (rows: T) => readonly string[]): string {
  return Object.entries(found)
    .flatMap(([kind, rows]) => {
      const names = nameEach(rows);
      return names.length > 0 ? [`${kind} ${names.length} (${listed(names)})`] : [];
    })
    .join(', ');
}

/** Of those that were moved away before, and of dead ones, there is nothing to use. */
async function countUsed(content: Content): Promise<number> {
  const rows = await valuesOf(content['connections'], ['status', 'moved_at']);
  return rows.filter((row) => row.endsWith(' null') && !row.startsWith('bad_credentials')).length;
}

function usedTwice(connections: number): string[] {
  if (connections === 0) return [];
  return [
    `${connections === 1 ? 'The connection is' : `The ${connections} connections are`} used where the file was made, too. Where a provider gives a new refresh token with each renewal, the first server that renews ends the tokens of the other: export with "move" to go on in one place.`,
  ];
}

function unconnected(groups: readonly string[]): string[] {
  if (groups.length === 0) return [];
  const whose = groups.length === 1 ? 'of 1 installation was' : `of ${groups.length} installations were`;
  return [
    `The connection ${whose} deleted, and nothing is sent there until the group connects again and the installation is given that connection: ${listed([...new Set(groups)])}.`,
  ];
}

/** Of names that are told. */
const mostTold = 20;

function listed(names: readonly string[]): string {
  const rest = names.length > mostTold ? `, and ${names.length - mostTold} more` : '';
  return `${names.slice(0, mostTold).join(', ')}${rest}`;
}
