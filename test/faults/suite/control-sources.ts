import { copySources, type Change, type Copy } from '../../mutants/sources.ts';
import type { Control } from './settings.ts';

/** Look-ups and retries follow sooner, so that two nodes meet at an item more often than once an hour. */
const sooner: Change[] = [
  { file: 'src/providers/salesforce/resolve.ts', find: 'settleMs: 3_000,', replace: 'settleMs: 500,' },
  { file: 'src/actions/write/record/next-step.ts', find: '{ baseMs: 1_000,', replace: '{ baseMs: 20,' },
];

/** The sources with what each control takes out. */
const changes: Record<Control, Change[]> = {
  // Taken items stay "ready", so that they are sent again after a death.
  marker: [
    {
      file: 'src/lanes/store/work.ts',
      find: 'UPDATE work w SET lease = c.lease, state = (NOT c.expired)::int,',
      replace: 'UPDATE work w SET lease = c.lease, state = 0,',
    },
  ],
  // A former holder goes on with a lane that was taken over, and its late records count.
  fence: [
    ...sooner,
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
    {
      file: 'src/lanes/store/work.ts',
      find: 'l.id = i.id AND l.lease = i.lease',
      replace: 'l.id = i.id',
    },
    {
      file: 'src/lanes/store/lanes.ts',
      find: `l.id = i.id AND l.lease = i.lease
    ORDER BY l.project_id, l.id FOR NO KEY UPDATE OF l`,
      replace: `l.id = i.id
    ORDER BY l.project_id, l.id FOR NO KEY UPDATE OF l`,
    },
    {
      file: 'src/lanes/store/lanes.ts',
      find: `l.id = i.id AND l.lease = i.lease
    ORDER BY l.project_id, l.id FOR UPDATE OF l`,
      replace: `l.id = i.id
    ORDER BY l.project_id, l.id FOR UPDATE OF l`,
    },
  ],
  // As if nobody sent a synchronous upsert again.
  refusal: [
    {
      file: 'src/actions/write/prepare/prepare.ts',
      find: '...(isRepeatedUnseen(kind) ? { mayRepeat: true as const } : {}),',
      replace: '',
    },
  ],
  intact: sooner,
};

/** A copy of the sources with the control's changes. */
export async function controlSources(control: Control): Promise<Copy> {
  const copy = await copySources();
  await copy.change(changes[control]);
  return copy;
}
