/** A watch that is not announced again for so long is over. */
const watchMs = 15_000;
/** A little less, for what must not rely on a watch that another node may have forgotten. */
const surelyMs = 12_000;
/** A notification takes less than 8,000 bytes; an id 37. */
const idsPerMessage = 200;

/** Which projects somebody looks at, on any node. */
export interface Watched {
  heard(projectIds: readonly string[]): void;
  has(projectId: string): boolean;
  /** Since when every change of it has been told, by the clock of this process; undefined: it is not, or not surely. */
  since(projectId: string): number | undefined;
  forget(): void;
}

export function createWatched(clock: () => number = () => performance.now()): Watched {
  const projects = new Map<string, { since: number; heardAt: number }>();
  return {
    heard(projectIds) {
      const now = clock();
      for (const id of projectIds) {
        const known = projects.get(id);
        const goesOn = known && now - known.heardAt < surelyMs;
        projects.set(id, { since: goesOn ? known.since : now, heardAt: now });
      }
      for (const [id, { heardAt }] of projects) if (now - heardAt > watchMs) projects.delete(id);
    },
    has(projectId) {
      if (projects.size === 0) return false;
      const known = projects.get(projectId);
      return known !== undefined && clock() - known.heardAt <= watchMs;
    },
    since(projectId) {
      const known = projects.get(projectId);
      return known && clock() - known.heardAt < surelyMs ? known.since : undefined;
    },
    forget: () => projects.clear(),
  };
}

/** As they are announced. */
export function messagesOf(projectIds: readonly string[]): string[] {
  const count = Math.ceil(projectIds.length / idsPerMessage);
  return Array.from({ length: count }, (_, at) =>
    projectIds.slice(at * idsPerMessage, (at + 1) * idsPerMessage).join(','),
  );
}
