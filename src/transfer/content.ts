import { Type } from 'typebox';
import { portableReads } from '../actions/read/index.ts';
import { portableConnections } from '../connections/index.ts';
import { portableDeliveries } from '../deliveries/index.ts';
import { portableInstallations } from '../installations/index.ts';
import type { Portable, PortableRow } from '../kit/db/portable.ts';
import { compileCheck } from '../kit/http/validation.ts';
import { maxIssues, problem, refuse, type Issue } from '../kit/problem.ts';
import { portableProject } from '../projects/index.ts';
import { fileVersion } from './schema.ts';

/** What is sealed in a file: the rows of each kind. */
export type Content = Record<string, PortableRow[]>;

/** Each after what it names. */
export const parts: readonly Portable[] = [
  ...portableProject,
  ...portableConnections,
  ...portableInstallations,
  ...portableDeliveries,
  ...portableReads,
];
/** Of one kind. */
export const mostRows = 20_000;

/** What names what: the columns of a kind, and the kind whose columns they hold. */
const names: readonly { kind: string; by: readonly string[]; named: string; as: readonly string[] }[] = [
  {
    kind: 'integrations',
    by: ['id', 'latest_revision_id'],
    named: 'revisions',
    as: ['integration_id', 'id'],
  },
  { kind: 'installations', by: ['integration_id'], named: 'integrations', as: ['id'] },
  { kind: 'installations', by: ['connection_id'], named: 'connections', as: ['id'] },
  { kind: 'installations', by: ['id', 'config_id'], named: 'configs', as: ['installation_id', 'id'] },
  { kind: 'topicDestinationRoutes', by: ['destination_id'], named: 'destinations', as: ['id'] },
  { kind: 'notificationRoutes', by: ['destination_id'], named: 'destinations', as: ['id'] },
];

/** Whether nothing names what is not in it. */
export function isWhole(content: Content): boolean {
  return lostNames(content).length === 0;
}

function lostNames(content: Content): Issue[] {
  return names.flatMap(({ kind, by, named, as }) => {
    const there = new Set(valuesOf(content[named], as));
    const column = by.at(-1) ?? '';
    return valuesOf(content[kind], by).flatMap((value, index) =>
      there.has(value)
        ? []
        : [issueAt(`${kind}[${index}].${column}`, `names nothing that is among the ${named} of the file`)],
    );
  });
}

function valuesOf(rows: readonly PortableRow[] = [], columns: readonly string[]): string[] {
  return rows.map(({ row }) => {
    const values = JSON.parse(row) as Record<string, unknown>;
    return columns.map((column) => String(values[column])).join(' ');
  });
}

const checkContent = compileCheck(
  Type.Object(
    Object.fromEntries(
      parts.map(({ kind }) => [
        kind,
        Type.Optional(
          Type.Array(
            Type.Object(
              { row: Type.String(), secret: Type.Optional(Type.Unknown()) },
              { additionalProperties: false },
            ),
            { maxItems: mostRows },
          ),
        ),
      ]),
    ),
    { additionalProperties: false },
  ),
);

/** The content of an opened file, in which each row is as one of its kind has to be. Throws export-malformed. */
export function readContent(text: string, version: number = fileVersion): Content {
  const content = parsed(text) as Content;
  const { issues, more } = checkContent(content, 'body');
  if (issues.length > 0) throw malformed(issues, more);
  // The first version did not say of which groups a consumer is. They come in with their connections, by their refs.
  if (version === 1) delete content['consumers'];
  const found = parts.flatMap((part) => rowIssues(part, content[part.kind] ?? []));
  if (found.length === 0) found.push(...lostNames(content));
  if (found.length > 0) throw malformed(found);
  return content;
}

/** Each row is written anew, so that what is stored is what was checked. */
function rowIssues(part: Portable, rows: PortableRow[]): Issue[] {
  const found: Issue[] = [];
  for (const [index, one] of rows.entries()) {
    const at = `${part.kind}[${index}]`;
    const value = parsed(one.row, at);
    one.row = JSON.stringify(value);
    for (const { name, ...fault } of part.faults(one))
      found.push({ in: 'body', name: name === '' ? at : `${at}.${name}`, ...fault });
    if (found.length > maxIssues) break;
  }
  return found;
}

function parsed(text: string, at = 'file'): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw malformed([issueAt(at, 'is not JSON')]);
  }
}

function issueAt(name: string, detail: string): Issue {
  return { in: 'body', name, detail };
}

function malformed(issues: readonly Issue[], more = 0): Error {
  return refuse(issues, 'export-malformed', more);
}

/** What the shapes let through and the database does not take. */
export function refusedByDatabase(state: string): Error {
  return problem('export-malformed', {
    detail: `The database takes a value of the file for none of its kind (SQLSTATE ${state}).`,
  });
}
