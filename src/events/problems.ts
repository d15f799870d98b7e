import { declareProblems } from '../kit/problem-catalogue.ts';
import { kind, type ProblemKind } from '../kit/problem-kind.ts';

export const eventProblems = {
  'too-many-streams': kind(
    429,
    'Too many streams are open',
    'Close streams that nobody reads, or share one among the pages of a browser.',
    'The same caller, or all callers together, hold as many streams of changes open at this node as it allows (`SVC_STREAMS_PER_CALLER`, `SVC_STREAMS`).',
    true,
  ),
} as const satisfies Record<string, ProblemKind>;

declareProblems(eventProblems);

declare module '../kit/problem-kind.ts' {
  interface DeclaredProblems {
    eventProblems: typeof eventProblems;
  }
}
