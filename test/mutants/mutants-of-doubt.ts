import type { Mutant } from './sources.ts';

/** Of what is told, and done, while it is not known whether something happened. */
export const mutantsOfDoubt: Mutant[] = [
  {
    name: 'what is taken goes to all who hold a lane of that id',
    changes: [
      {
        file: 'src/lanes/store/lanes.ts',
        find: 'return `${projectId}/${id}/${lease}`;',
        replace: 'return id || `${projectId} ${lease}`;',
      },
    ],
    tests: ['src/lanes/kinds.test.ts'],
  },
  {
    name: 'a commit in doubt counts as not made',
    changes: [
      {
        file: 'src/kit/db/faults.ts',
        find: 'return state === undefined ? isDatabaseAway(error) : openStates.test(state);',
        replace: 'return state !== undefined && openStates.test(state);',
      },
    ],
    tests: ['src/operations/doubt.test.ts'],
  },
  {
    name: 'a lost create is sent again while it may come',
    changes: [
      {
        file: 'src/actions/write/send/attempt.ts',
        find: 'quietMs: quietMsOf(connector, lateEffectMs)',
        replace: 'quietMs: Math.min(1_000, quietMsOf(connector, lateEffectMs))',
      },
    ],
    tests: ['test/model/ledger.test.ts'],
  },
  {
    name: 'a lost create is sent again while it may come, since its customer connected again',
    changes: [{ file: 'src/actions/write/send/resolve.ts', find: 'return restMs;', replace: 'return 0;' }],
    tests: ['test/model/ledger.test.ts'],
  },
  {
    name: 'a change joins beside an open one of before',
    changes: [
      {
        file: 'src/actions/write/auto-batch/store.ts',
        find: 't.order_key = i.order_key AND b.key <> o.key)),',
        replace: 't.order_key = i.order_key AND b.key <> o.key) OR true),',
      },
    ],
    tests: ['src/actions/write/auto-batch/store.test.ts'],
  },
  {
    name: 'a change whose first commit is on its way goes round again',
    changes: [
      {
        file: 'src/actions/write/auto-batch/accept.ts',
        find: 'const refused = doubts.about(entry.id);',
        replace: 'const refused = undefined;',
      },
    ],
    tests: ['src/actions/write/auto-batch/doubt.test.ts', 'test/model/doubt.test.ts'],
  },
  {
    name: 'an upsert that another node may send was not sent',
    changes: [
      {
        file: 'src/operations/accept.ts',
        find: 'const isSentLater = lease === null || row.mayRepeat === true;',
        replace: 'const isSentLater = lease === null;',
      },
    ],
    tests: ['src/operations/doubt.test.ts'],
  },
  {
    name: 'a locked record of a batch has failed',
    changes: [{ file: 'src/providers/hubspot/failure.ts', find: '    OBJECT_LOCKED: lock,\n', replace: '' }],
    tests: ['src/providers/hubspot/failure.test.ts'],
  },
];
