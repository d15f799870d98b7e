import { declareProblems } from '../kit/problem-catalogue.ts';
import { kind, type ProblemKind } from '../kit/problem-kind.ts';

export const transferProblems = {
  'export-unreadable': kind(
    422,
    'The export cannot be opened',
    'Give the passphrase that it was made with, and the whole file as it was made.',
    'Everything in an export is sealed with its passphrase. Another passphrase, or a file of which a character was changed, opens nothing. Nothing was changed.',
  ),
  'export-malformed': kind(
    422,
    'What is in the export is not what an export holds',
    'Export the project again from the server that it is on. A file that was written by hand has to hold what `issues` says.',
    'The passphrase opened the file, and something in it is not what this service writes there: each row is held to the same rules as what comes by the API. An export of a project that holds such a row is refused, too. Nothing was changed, unless `detail` says that connections are moved: such a row came while they were.',
  ),
  'export-sealed': kind(
    409,
    'A secret of the project cannot be opened',
    'Give the node the master key back that sealed what `issues` names (SVC_ENCRYPTION_KEYS), or delete or renew that, and export the project again.',
    'An export holds the secrets of the project, and no configured master key opens one of them. No file was made. No connection was moved, unless `detail` says so: such a secret came while they were.',
  ),
  'export-newer': kind(
    422,
    'The export was made by a newer release',
    'Update this server to the release that made the export, and import it again.',
    'An export is read by the release that made it and by later ones. Nothing was changed.',
  ),
  'export-too-large': kind(
    413,
    'The project is too large for an export',
    'Move the database as a whole: docs/operating.md says how a backup is restored.',
    'An export is one file that is sent in one request, so that it comes in whole or not at all. Nothing was changed, unless `detail` says that connections are moved: the project grew while they were.',
  ),
  'export-busy': kind(
    409,
    'A connection is being renewed',
    'Ask again in a minute. Until then the connections that were marked are not used; POST …/exports:undo takes them back.',
    'An export that moves the connections waits until no token is on its way, and so does an import of those that it replaces. No file was made, and nothing came in.',
    true,
  ),
  'import-clash': kind(
    409,
    'Something else stands in the place of what would come in',
    'Rename or delete what `issues` names, or import into another project.',
    'What is there under another id is never overwritten. Nothing was changed.',
  ),
} as const satisfies Record<string, ProblemKind>;

declareProblems(transferProblems);

declare module '../kit/problem-kind.ts' {
  interface DeclaredProblems {
    transferProblems: typeof transferProblems;
  }
}
