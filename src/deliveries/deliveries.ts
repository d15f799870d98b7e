import type { Ground } from '../kit/ground.ts';
import { createAnnouncer } from '../lanes/index.ts';
import { createKnownDestinations } from './known.ts';

/** A destination as those see it who send there. */
export interface FoundDestination {
  id: string;
  name: string;
  type: string;
  status: 'active' | 'disabled';
  /** Why it is disabled. */
  reason?: string;
}

/** The builder's destinations, and what is delivered to them. */
export interface Deliveries {
  /** By id or name; at most two seconds old. */
  findDestination(projectId: string, nameOrId: string): Promise<FoundDestination | undefined>;
  /** Called with the destination after each commit of messages; the worker of the same process wants to know. */
  onQueued(listener: (destinationId: string) => void): void;
  /** Messages were kept for the destination: tells the workers of all nodes. */
  announce(destinationId: string): void;
  close(): Promise<void>;
}

export function createDeliveries({ database, log }: Ground): Deliveries {
  const known = createKnownDestinations(database);
  const announcer = createAnnouncer(database.directUrl, log);
  const listeners = new Set<(destinationId: string) => void>();
  return {
    async findDestination(projectId, nameOrId) {
      const row = await known.find(projectId, nameOrId);
      if (!row) return undefined;
      const { id, name, type, status, reason } = row;
      return { id, name, type, status, ...(reason === null ? {} : { reason }) };
    },
    onQueued: (listener) => void listeners.add(listener),
    announce(destinationId) {
      for (const listener of listeners) listener(destinationId);
      announcer.announce();
    },
    async close() {
      known.close();
      await announcer.close();
    },
  };
}
