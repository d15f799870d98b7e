import type { Database } from '../kit/db/database.ts';
import type { Logger } from '../kit/log.ts';
import { sleep } from '../kit/retry.ts';
import type { End, Gathers, Heard, Kind, Marked, Ran, WorkContext } from './kind.ts';
import { createRecorder, type Recorder } from './recorder.ts';
import { putBack } from './store/work.ts';

/** What became of a job. `record` resolves with whether the fence held. */
export interface Finished {
  heard?: Heard | undefined;
  laneWaitsMs?: number | undefined;
  record(signal: AbortSignal): Promise<boolean>;
}

/** An item together with its kind: all that a lane does with it. */
export interface Job {
  marked: Marked;
  /** For the log. */
  about: Record<string, unknown>;
  /** Of its large part, which is not in memory yet. */
  unreadBytes: number;
  read(): Promise<Job>;
  run(context: WorkContext): Promise<Finished>;
  rescue(context: WorkContext): Promise<Finished>;
  /** It goes back as if it had not been taken. */
  unsent(waitMs: number): Finished;
}

interface Hands {
  database: Database;
  log: Logger;
  /** Told how many items were recorded as done. */
  onEnded: (count: number) => void;
}

/** A kind without its types: makes jobs of marked rows. */
export interface RegisteredKind {
  name: string;
  gathers: Gathers | undefined;
  open(hands: Hands): (marked: readonly Marked[]) => Promise<Job[]>;
}

/** Makes a kind known to the lanes. */
export function defineKind<Item extends Marked, Ended extends End>(kind: Kind<Item, Ended>): RegisteredKind {
  return {
    name: kind.name,
    gathers: kind.gathers,
    open(hands) {
      const recorder = createRecorder<Ended>(hands, kind, (ended) => hands.onEnded(ended.length));
      return async (marked) =>
        (await kind.load(hands.database, marked)).map((item) => jobOf(hands, kind, recorder, item));
    },
  };
}

/** Loads marked rows, each by its kind; what no kind of this node answers to is a job, too. */
export function loaderOf(
  hands: Hands,
  kinds: readonly RegisteredKind[],
): (marked: readonly Marked[]) => Promise<Job[]> {
  const loads = new Map(kinds.map((kind) => [kind.name, kind.open(hands)]));
  return async (marked) => {
    const groups = [...Map.groupBy(marked, ({ kind }) => kind)];
    const loaded = groups.map(async ([kind, rows]) => {
      const load = loads.get(kind);
      return load ? load(rows) : rows.map((row) => strangeJob(hands.database, row));
    });
    const jobs = new Map((await Promise.all(loaded)).flat().map((job) => [job.marked.seq, job]));
    return marked.map((row) => jobs.get(row.seq) ?? missedJob(hands, row));
  };
}

function jobOf<Item extends Marked, Ended extends End>(
  hands: Hands,
  kind: Kind<Item, Ended>,
  recorder: Recorder<Ended>,
  item: Item,
): Job {
  const { large, rescued } = kind;
  const finished = ({ end, ...said }: Ran<Ended>): Finished => ({
    ...said,
    record: (signal) => recorder.record(end, signal),
  });
  const unsent = (waitMs: number): Finished => finished({ end: kind.unsent(item, waitMs) });
  return {
    marked: item,
    about: kind.about(item),
    unreadBytes: large?.bytesOf(item) ?? 0,
    read: async () =>
      large
        ? jobOf(hands, kind, recorder, await large.read(hands.database, item))
        : jobOf(hands, kind, recorder, item),
    async run(context) {
      if (!item.expired && !context.mayStillSend()) return unsent(0);
      return finished(await kind.run(item, context));
    },
    async rescue(context) {
      if (rescued !== 'again') return finished(await rescued(item, context));
      return { record: () => putBack(hands.database, item, 0, true) };
    },
    unsent,
  };
}

const missedWaitsMs = 60_000;
/** What was started and is left as it is holds its lane for so long, so that this node does not claim it again at once. */
const leftHeldMs = 5_000;

/**
 * Of a row that its kind should have loaded: what the work is for is gone, or was not found. It goes back and is told of; what was
 * started elsewhere is left as it is, since nobody can say what became of it.
 */
function missedJob({ database, log }: Pick<Hands, 'database' | 'log'>, marked: Marked): Job {
  const about = { projectId: marked.projectId, kind: marked.kind, ref: marked.ref };
  const unsent = (waitMs: number): Finished => ({ record: () => putBack(database, marked, waitMs, false) });
  const tell = (): void => log.error(about, 'work was taken, and what it is for was not found');
  return {
    marked,
    about,
    unreadBytes: 0,
    read: async () => missedJob({ database, log }, marked),
    async run() {
      tell();
      return unsent(missedWaitsMs);
    },
    async rescue({ signal }) {
      tell();
      await sleep(leftHeldMs, signal);
      return { record: async () => false };
    },
    unsent,
  };
}

/** Of a newer node's kind, during a rolling upgrade: that node will do it. */
const strangeWaitsMs = 60_000;

function strangeJob(database: Database, marked: Marked): Job {
  const unsent = (waitMs: number): Finished => ({ record: () => putBack(database, marked, waitMs, false) });
  return {
    marked,
    about: { projectId: marked.projectId, kind: marked.kind, ref: marked.ref },
    unreadBytes: 0,
    read: async () => strangeJob(database, marked),
    run: async () => unsent(strangeWaitsMs),
    async rescue({ signal }) {
      await sleep(leftHeldMs, signal);
      throw new Error(`no kind of this node is called ${marked.kind}`);
    },
    unsent,
  };
}
