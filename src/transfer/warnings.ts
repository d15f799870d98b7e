import { withoutConnection, type Content } from './content.ts';
import type { Export } from './schema.ts';

interface Head {
  moved: boolean;
  counts: Record<string, number>;
}

/** What an operator has to know of a file, where it is made and where it comes in. */
export async function warningsOf({ moved, counts }: Head, content: Content): Promise<Export['warnings']> {
  const told = [
    ...usedTwice(moved ? 0 : (counts['connections'] ?? 0)),
    ...unconnected((await withoutConnection(content)).map(({ groupRef }) => groupRef)),
  ];
  return told.map((message) => ({ message }));
}

interface Meanwhile {
  /** Connections that are not used here. */
  moved: number;
  /** How many of each kind the file has otherwise than they are here. */
  differing: Readonly<Record<string, number>>;
  /** What is here and not in the file, by kind and name. */
  missing: Readonly<Record<string, readonly string[]>>;
}

/** What changed elsewhere and was left here as it is. */
export function meanwhile({ moved, differing, missing }: Meanwhile): Export['warnings'] {
  const others = Object.entries(differing).flatMap(([kind, count]) =>
    count > 0 ? [`${kind} ${count}`] : [],
  );
  const extra = Object.entries(missing).flatMap(([kind, names]) =>
    names.length > 0 ? [`${kind} ${names.length} (${listed(names)})`] : [],
  );
  const told = [
    moved > 0 &&
      `Not used here, since an export moved them away and the file has no newer credentials of them: connections ${moved}. Import the file of an export with "move" from where they are used, or take them back as they were: POST …/exports:undo.`,
    others.length > 0 &&
      `Left as it is here, while it is different in the file: ${others.join(', ')}. Change here what is to be as it was there.`,
    extra.length > 0 &&
      `Here and not in the file, as it was deleted there or made here since, and left as it is: ${extra.join(', ')}. Delete here what was deleted there: an API key of these is good here.`,
  ];
  return told.filter((message) => message !== false).map((message) => ({ message }));
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
