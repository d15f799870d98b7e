import { problem, refuse, type Issue } from '../kit/problem.ts';

export function issueAt(name: string, detail: string): Issue {
  return { in: 'body', name, detail };
}

export function malformed(issues: readonly Issue[]): Error {
  return refuse(issues, 'export-malformed');
}

export function notJson(at: string): Error {
  return malformed([issueAt(at, 'is not JSON')]);
}

/** What the shapes let through and the database does not take. */
export function refusedByDatabase(state: string): Error {
  return problem('export-malformed', {
    detail: `The database takes a value of the file for none of its kind (SQLSTATE ${state}).`,
  });
}
