/** One row of the catalogue: everything that is the same for each occurrence of a problem. */
export interface ProblemKind {
  status: number;
  title: string;
  /** Whether the same request may succeed later without a change, and may be sent again without doing anything twice. */
  retryable: boolean;
  /** An occurrence may differ: it depends on what failed. */
  varies?: true;
  /** What the caller can do, unless the occurrence says something more exact. */
  remedy: string;
  /** When it arises, for its page in docs/errors. */
  about: string;
}

/** The problems of each room, added where the room declares them. */
// oxlint-disable-next-line typescript/no-empty-interface
export interface DeclaredProblems {}

export const kind = (
  status: number,
  title: string,
  remedy: string,
  about: string,
  retryable = false,
): ProblemKind => ({
  status,
  title,
  retryable,
  remedy,
  about,
});

export const varying = (...row: Parameters<typeof kind>): ProblemKind => ({ ...kind(...row), varies: true });
