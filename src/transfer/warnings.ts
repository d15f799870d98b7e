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
