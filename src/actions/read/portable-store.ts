import { Type } from 'typebox';
import { portable, type Portable, type RowFault } from '../../kit/db/portable.ts';
import { orNull, text, timestamp, uuid } from '../../kit/db/portable-schema.ts';
import { readScheduleMinutes, scheduleFault } from '../../projects/index.ts';

const ofRuns = 'runs stay behind';
const ofInstallation = 'its installation names it';
const installed = (row: string): string =>
  `(SELECT n.connection_id FROM installation n WHERE n.project_id = $1 AND n.id = ${row}.installation_id)`;

function scheduleFaults({ schedule }: { schedule: string | null }): RowFault[] {
  const fault = schedule === null ? undefined : scheduleFault(schedule, readScheduleMinutes);
  return fault === undefined ? [] : [{ name: 'schedule', detail: fault.reason }];
}

/**
 * How far each object was read, so that a history is not read again. A feed whose history is still being read stays behind, and one
 * that was of another connection than its installation has: it begins anew.
 */
export const portableReads: readonly Portable[] = [
  portable({
    kind: 'reads',
    table: 'read_feed',
    key: { installation_id: uuid, object: text(1_000), kind: Type.Enum(['records', 'associations']) },
    columns: {
      object_name: text(1_000),
      targets: Type.String({ maxLength: 100_000 }),
      schedule: orNull(text(100)),
      tick_at: orNull(timestamp),
      next_at: Type.Union([timestamp, Type.Literal('infinity')]),
      started_at: timestamp,
      watermark: timestamp,
      paused: orNull(Type.Enum(['object', 'installation', 'failures', 'removed'])),
      paused_at: orNull(timestamp),
      note: orNull(Type.String({ maxLength: 10_000 })),
      backfill_id: orNull(uuid),
    },
    rules: scheduleFaults,
    differs: { where: 'r.watermark > t.watermark' },
    where: `NOT EXISTS (SELECT FROM read_run b WHERE b.project_id = t.project_id AND b.id = t.backfill_id)
      AND t.connection_id = ${installed('t')}`,
    given: { connection_id: installed('r') },
    left: {
      failures: ofRuns,
      excused: ofRuns,
      run_id: ofRuns,
      last_run_id: ofRuns,
      connection_id: ofInstallation,
    },
  }),
];
