import type { Mutant } from './sources.ts';

const sql = 'migrations/functions/03-lanes.sql';

export const mutantsOfTurns: Mutant[] = [
  {
    name: 'turn not passed on',
    changes: [
      {
        file: sql,
        find: "  IF passed_to <> '{}' THEN\n    WITH next",
        replace: '  IF false THEN\n    WITH next',
      },
    ],
    tests: ['src/actions/write/lanes.test.ts', 'src/actions/write/accept/turns.test.ts'],
  },
  {
    name: 'ready though one before it stands',
    changes: [
      {
        file: sql,
        find: "IF FOUND THEN\n      passed_to := '{}'",
        replace: "IF false THEN\n      passed_to := '{}'",
      },
    ],
    tests: ['src/actions/write/accept/turns.test.ts'],
  },
  {
    name: 'two synchronous writes of a record at once',
    changes: [
      {
        file: sql,
        find: "PERFORM pg_advisory_xact_lock(hashtext('svc_hold_turns'), place) FROM",
        replace: 'PERFORM place FROM',
      },
    ],
    tests: ['src/actions/write/accept/at-once.test.ts'],
  },
  {
    name: 'a late turn beside a started write',
    changes: [
      { file: 'src/lanes/store/lanes.ts', find: 'AND later.marked', replace: 'AND NOT later.marked' },
    ],
    tests: ['src/actions/write/accept/at-once.test.ts'],
  },
];
