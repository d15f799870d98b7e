import { mutantsOfDoubt } from './mutants-of-doubt.ts';
import { mutantsOfMessages } from './mutants-of-messages.ts';
import { mutantsOfRetries } from './mutants-of-retries.ts';
import { mutantsOfTurns } from './mutants-of-turns.ts';
import type { Mutant } from './sources.ts';

const autoBatchSql = 'migrations/functions/09-write.sql';
const autoBatchTests = [
  'src/actions/write/auto-batch/auto-batch.test.ts',
  'src/actions/write/auto-batch/store.test.ts',
];

export const mutants: Mutant[] = [
  {
    name: 'batch of 101',
    changes: [
      {
        file: autoBatchSql,
        find: 'IF head_taken >= batch_size OR',
        replace: 'IF head_taken > batch_size OR',
      },
      {
        file: autoBatchSql,
        find: 'places := least(wanted, batch_size - head_taken)',
        replace: 'places := least(wanted, batch_size + 1 - head_taken)',
      },
      {
        file: autoBatchSql,
        find: 'IF head_taken = batch_size THEN',
        replace: 'IF head_taken = batch_size + 1 THEN',
      },
    ],
    tests: autoBatchTests,
  },
  {
    name: 'deadline slides with later records',
    changes: [
      {
        file: autoBatchSql,
        find: '      n := asked.n;\n',
        replace: `      head_close := moment + asked.delays[done + 1] * interval '1 second';
      UPDATE ab_batch b SET close_at = head_close, latest_at = head_close
        WHERE b.project_id = asked.project_id AND b.id = head_batch AND NOT b.handed_out;
      n := asked.n;\n`,
      },
    ],
    tests: autoBatchTests,
  },
  {
    name: 'no lease check',
    changes: [
      {
        file: 'src/lanes/context.ts',
        find: '!signal.aborted && performance.now() < lane.leaseEndsAt - leaseMs * marginOfLease',
        replace: '!signal.aborted || leaseMs * marginOfLease < 0',
      },
    ],
    tests: ['src/actions/write/worker.test.ts', 'test/model/ledger.test.ts'],
  },
  {
    name: 'no fence on record',
    changes: [
      {
        file: 'src/lanes/store/record-parts.ts',
        find: "WHERE i.done AND w.project_id = i.project_id AND w.seq = i.seq AND w.lease = i.lease AND ${isMark('i.mark')}",
        replace: 'WHERE i.done AND w.project_id = i.project_id AND w.seq = i.seq',
      },
      {
        file: 'src/lanes/store/record-parts.ts',
        find: "WHERE NOT i.done AND w.project_id = i.project_id AND w.seq = i.seq AND w.lease = i.lease AND ${isMark('i.mark')}",
        replace: 'WHERE NOT i.done AND w.project_id = i.project_id AND w.seq = i.seq',
      },
    ],
    tests: ['src/actions/write/lanes.test.ts'],
  },
  {
    name: 'the fence of a record is the lease of its lane alone',
    changes: [
      { file: 'src/lanes/store/record-parts.ts', find: '`(${mark} IS NULL OR ', replace: '`(true OR ' },
    ],
    tests: ['src/lanes/kinds.test.ts'],
  },
  {
    name: 'started marker after the send',
    changes: [
      {
        file: 'src/lanes/store/work.ts',
        find: 'UPDATE work w SET lease = c.lease, state = (NOT c.expired)::int,',
        replace: 'UPDATE work w SET lease = c.lease, state = 0,',
      },
    ],
    tests: ['src/actions/write/lanes.test.ts', 'src/actions/write/worker.test.ts'],
  },
  {
    name: 'batch closed twice',
    changes: [
      {
        file: autoBatchSql,
        find: 'DELETE FROM ab_batch b USING unnest(projects, ids, totals)',
        replace: 'UPDATE ab_batch b SET handed_out = true FROM unnest(projects, ids, totals)',
      },
    ],
    tests: autoBatchTests,
  },
  {
    name: 'wake-up lost without polling',
    changes: [
      {
        file: 'src/lanes/worker.ts',
        find: 'await bell.wait(settings.pollMs)',
        replace: 'await bell.wait(2 ** 30)',
      },
    ],
    tests: ['src/actions/write/worker.test.ts'],
  },
  {
    name: 'retry on 500 for a create',
    changes: [
      {
        file: 'src/providers/answer.ts',
        find: 'status === 408 || status >= 500 ||',
        replace: 'status === 408 || status > 500 ||',
      },
    ],
    tests: ['src/providers/hubspot/write.test.ts', 'src/providers/salesforce/write.test.ts'],
  },
  {
    name: 'idempotency key stored in another transaction',
    changes: [
      {
        file: 'src/operations/store/accept.ts',
        find: 'const keyed = rows.flatMap(',
        replace: 'const keyed: never[] = [];\n  const late = rows.flatMap(',
      },
      {
        file: 'src/operations/store/accept.ts',
        find: '  return new Map(inserted.map((row) => [row.operation_id, row]));\n',
        replace: `  for (const { key, projectId, operationId } of late)
    await db.rows(keyAfterwards, [projectId, key.principal, key.key, key.hash, operationId, key.forever ?? false]);
  return new Map(inserted.map((row) => [row.operation_id, row]));\n`,
      },
      {
        file: 'src/operations/store/accept.ts',
        find: 'const findOperations = statement(',
        replace: `const keyAfterwards = statement(
  'key_afterwards',
  \`INSERT INTO idempotency (project_id, principal, key, hash, operation_id, expires_at)
  SELECT $1, $2, $3, $4, $5, CASE WHEN $6 THEN 'infinity' ELSE svc_now() + interval '7 days' END
  ON CONFLICT DO NOTHING\`,
);

const findOperations = statement(`,
      },
    ],
    tests: ['src/actions/write/accept/keys.test.ts'],
  },
  {
    name: 'allOrNone ignored',
    changes: [
      {
        file: 'src/actions/write/prepare/plan.ts',
        find: 'allOrNone: request.batchPolicy?.allOrNone ?? false,',
        replace: 'allOrNone: false,',
      },
    ],
    tests: ['src/actions/write/prepare/plan.test.ts', 'src/actions/write/send/dry-run.test.ts'],
  },
  {
    name: 'HubSpot results matched by position',
    changes: [
      {
        file: 'src/providers/hubspot/match.ts',
        find: 'const index = indexOfResult(call, result);',
        replace: "const index = objectsOf(body['results']).indexOf(result);",
      },
    ],
    tests: ['src/providers/hubspot/write.test.ts'],
  },
  {
    name: 'order per record id dropped',
    changes: [
      {
        file: 'src/lanes/store/lanes.ts',
        find: '(NOT w.ordered OR NOT EXISTS (',
        replace: '(true OR NOT EXISTS (',
      },
      {
        file: 'src/operations/store/accept.ts',
        find: "isBehind: 'n IN (SELECT n FROM behind)'",
        replace: "isBehind: 'false'",
      },
    ],
    tests: ['src/actions/write/lanes.test.ts', 'src/actions/write/worker.test.ts'],
  },
  {
    name: 'backoff ignores the provider’s retry time',
    changes: [
      {
        file: 'src/actions/write/record/next-step.ts',
        find: 'const retryInMs = Math.max(backoffMs(attempt, policy), ...waits);',
        replace: 'const retryInMs = backoffMs(attempt, policy);',
      },
    ],
    tests: ['src/actions/write/record/next-step.test.ts'],
  },
  {
    name: 'deadline not checked before an attempt',
    changes: [
      {
        file: 'src/lanes/store/work.ts',
        find: 'w.deadline <= (SELECT now FROM clock) AS expired',
        replace: 'false AS expired',
      },
    ],
    tests: ['src/actions/write/lanes.test.ts', 'src/actions/write/worker.test.ts'],
  },
  {
    name: 'budget kept per node',
    changes: [
      {
        file: 'src/connections/budget/budget.ts',
        find: 'await Promise.all([state.channel?.send(closures), saveClosures(ground.database, closures)]);',
        replace: 'await Promise.all([[state.channel, saveClosures, ground.database, closures]]);',
      },
    ],
    tests: ['src/connections/budget/budget.test.ts'],
  },
  {
    name: 'a 503 counts as not done',
    changes: [
      {
        file: 'src/providers/answer.ts',
        find: 'status === 408 || status >= 500 ||',
        replace: 'status === 408 || (status >= 500 && status !== 503) ||',
      },
    ],
    tests: ['test/journeys/write-failures.test.ts'],
  },
  {
    name: 'a synchronous write takes no turn',
    changes: [
      {
        file: 'src/actions/write/accept/accept.ts',
        find: 'if (waits) await',
        replace: 'if (waits && !lane) await',
      },
    ],
    tests: ['src/actions/write/accept/turns.test.ts'],
  },
  {
    name: 'changes of a record in two auto-batches out of order',
    changes: [
      {
        file: 'src/actions/write/auto-batch/accept.ts',
        find: '  await persist(gathering, () => closeOthers(database, left));\n',
        replace: '',
      },
    ],
    tests: autoBatchTests,
  },
  {
    name: 'the most urgent last',
    changes: [
      {
        file: 'src/lanes/store/lanes.ts',
        find: '(VALUES (0), (1), (2), (3)) AS p(prio)',
        replace: '(VALUES (3), (2), (1), (0)) AS p(prio)',
      },
    ],
    tests: ['src/actions/write/accept/turns.test.ts'],
  },
  {
    name: 'a known outcome is dropped when the database is unable',
    changes: [
      {
        file: 'src/lanes/recorder.ts',
        find: 'if (signal?.aborted) throw error;',
        replace: 'throw error;',
      },
    ],
    tests: ['src/actions/write/record/recording.test.ts'],
  },
  {
    name: 'a silent database is asked again and again',
    changes: [
      {
        file: 'src/operations/accept.ts',
        find: 'const recoverForMs = 3_000;',
        replace: 'const recoverForMs = 30_000;',
      },
    ],
    tests: ['src/operations/silent-database.test.ts'],
  },
  {
    name: 'what the database refused before the send is unknown',
    changes: [
      {
        file: 'src/actions/send.ts',
        find: 'if (sqlState(error) !== undefined) {',
        replace: 'if (sqlState(error) === "none") {',
      },
    ],
    tests: ['src/actions/write/send/execute.test.ts'],
  },
  {
    name: 'a Salesforce id in two forms is two records',
    changes: [{ file: 'src/providers/salesforce/index.ts', find: '  canonicalId,\n', replace: '' }],
    tests: ['test/journeys/write-failures.test.ts'],
  },
  {
    name: 'all or none in parts',
    changes: [
      {
        file: 'src/actions/write/send/one-call.ts',
        find: 'return allOrNone && !partialOnly.includes(kind);',
        replace: 'return allOrNone && partialOnly.includes(kind);',
      },
    ],
    tests: ['src/actions/write/send/attempt-batch.test.ts'],
  },
  {
    name: 'bytes that are no UTF-8 are replaced',
    changes: [
      {
        file: 'src/kit/http/body.ts',
        find: 'if (isUtf8(bytes)) return bytes',
        replace: 'if (isUtf8(bytes) || bytes.length > 0) return bytes',
      },
    ],
    tests: ['test/journeys/client-faults.test.ts'],
  },
  {
    name: 'HTTP/2 with providers',
    changes: [
      {
        file: 'src/kit/http/egress.ts',
        find: 'const settings = { allowH2: false,',
        replace: 'const settings = { allowH2: true,',
      },
      { file: 'src/kit/http/egress.ts', find: '    allowH2: false,\n', replace: '    allowH2: true,\n' },
    ],
    tests: ['src/kit/http/silent-session.test.ts'],
  },
  {
    name: 'a token for every 401',
    changes: [
      {
        file: 'src/connections/refresh/keeper.ts',
        find: '|| found.isResting()) return confirm(key, found);',
        replace: ') return confirm(key, found);',
      },
      {
        file: 'src/connections/refresh/refresher.ts',
        find: "...(cause === '401' ? { restMs } : {})",
        replace: '',
      },
    ],
    tests: ['src/connections/refresh/refresh.test.ts'],
  },
  {
    name: 'with the database away only the first caller is served',
    changes: [
      {
        file: 'src/kit/cache.ts',
        find: 'const { result, silence } = readings.get(key) ?? read(key);',
        replace:
          'const known = readings.get(key);\n    if (known) return known.result;\n    const { result, silence } = read(key);',
      },
    ],
    tests: ['src/kit/cache.test.ts'],
  },
  {
    name: 'a front-end token for another audience',
    changes: [
      {
        file: 'src/projects/keys/jwt-keys.ts',
        find: '...(audience === undefined ? {} : { audience }),',
        replace: '',
      },
    ],
    tests: ['src/projects/keys/jwt-key-routes.test.ts'],
  },
  ...mutantsOfMessages,
  ...mutantsOfDoubt,
  ...mutantsOfRetries,
  ...mutantsOfTurns,
];
