import type { Batch } from './wire.ts';

/** How much of what was told a node remembers, for streams that come back. */
const most = { ms: 60_000, bytes: 4 * 1024 * 1024 };

interface Entry {
  batch: Batch;
  at: number;
  bytes: number;
}

/** What was told lately. */
export interface Past {
  add(batch: Batch, bytes: number): void;
  /** What came behind the batch, of its project; undefined: the batch is not known, or something may have come that was not told. */
  after(projectId: string, id: string, toldSince: number | undefined): Batch[] | undefined;
  forget(): void;
}

export function createPast(clock: () => number = () => performance.now()): Past {
  let entries: Entry[] = [];
  let bytes = 0;
  return {
    add(batch, size) {
      const now = clock();
      entries.push({ batch, at: now, bytes: size });
      bytes += size;
      let dropped = 0;
      for (const one of entries) {
        if (bytes <= most.bytes && now - one.at <= most.ms) break;
        bytes -= one.bytes;
        dropped += 1;
      }
      if (dropped > 0) entries = entries.slice(dropped);
    },
    after(projectId, id, toldSince) {
      const at = entries.findIndex(({ batch }) => batch.id === id && batch.projectId === projectId);
      const found = entries[at];
      if (!found || toldSince === undefined || toldSince > found.at) return undefined;
      return entries.slice(at + 1).flatMap(({ batch }) => (batch.projectId === projectId ? [batch] : []));
    },
    forget() {
      entries = [];
      bytes = 0;
    },
  };
}
