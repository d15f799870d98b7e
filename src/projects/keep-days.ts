import { refuse } from '../kit/problem.ts';
import type { KeepDays, KeepDaysChange } from './schema.ts';

/** Throws when a project asks for more than the operator keeps. */
export function checkKeepDays(asked: KeepDaysChange, most: Required<KeepDays> | undefined): void {
  const issues = (Object.keys(asked) as (keyof KeepDays)[]).flatMap((kind) => {
    const days = asked[kind] ?? 0;
    const bound = most?.[kind] ?? Infinity;
    return days <= bound
      ? []
      : [
          {
            in: 'body' as const,
            name: `project.keepDays.${kind}`,
            detail: `must be at most ${bound}, the days that the operator of this service keeps`,
            value: days,
          },
        ];
  });
  if (issues.length > 0) throw refuse(issues);
}

/** What a project may keep of what it asks for: no more than the operator. */
export function boundKeepDays(asked: KeepDays, most: Required<KeepDays> | undefined): KeepDays {
  const kinds = Object.keys(asked) as (keyof KeepDays)[];
  return Object.fromEntries(
    kinds.map((kind) => [kind, Math.min(asked[kind] ?? Infinity, most?.[kind] ?? Infinity)]),
  );
}
