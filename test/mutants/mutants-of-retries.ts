import type { Mutant } from './sources.ts';

const again = 'src/actions/write/accept/again.ts';
const tests = ['test/journeys/retry-failed.test.ts'];

export const mutantsOfRetries: Mutant[] = [
  {
    name: 'a repeated write takes another key than a retry',
    changes: [
      {
        file: again,
        find: 'at = { claim, retryOf: written };',
        replace: "at = { claim: { ...claim, principal: 'again' }, retryOf: written };",
      },
    ],
    tests,
  },
  {
    name: 'what may have been done is written again',
    changes: [
      {
        file: 'src/operations/resolve.ts',
        find: "return outcomeNow(known)?.kind === 'notApplied';",
        replace: "return outcomeNow(known)?.kind !== 'applied';",
      },
    ],
    tests,
  },
  {
    name: 'a key keeps its answer whatever was resolved since',
    changes: [{ file: 'src/operations/keys.ts', find: ' || row.resolved', replace: '' }],
    tests: ['test/journeys/repeat-resolved.test.ts'],
  },
  {
    name: 'a batch of which a part may have been done is written again',
    changes: [{ file: again, find: 'records.every(repeatableOf', replace: 'records.some(repeatableOf' }],
    tests,
  },
  {
    name: 'a renewed token that is refused, too, goes on',
    changes: [
      {
        file: 'src/connections/refresh/keeper.ts',
        find: '|| found.isResting()) return confirm(key, found);',
        replace: ') return confirm(key, found);\n      if (found.isResting()) return found.credential();',
      },
    ],
    tests: ['src/connections/refresh/refresh.test.ts'],
  },
  {
    name: 'a renewed token that is refused once is dead',
    changes: [
      { file: 'src/connections/refresh/marks.ts', find: 'lastsMs >= refusedMs', replace: 'lastsMs >= 0' },
    ],
    tests: ['src/connections/refresh/refresh.test.ts'],
  },
  {
    name: 'the first refusal of a renewed token is never forgotten',
    changes: [
      {
        file: 'src/connections/store.ts',
        find: "status = 'working', refused_since = NULL,",
        replace: "status = 'working',",
      },
    ],
    tests: ['src/connections/refresh/refresh.test.ts'],
  },
];
