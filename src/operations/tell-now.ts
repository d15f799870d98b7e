import type { EventType } from '../events/index.ts';
import type { LaneKey } from '../lanes/index.ts';

/** Sends what tells of an end at once, by the node that records the end. */
export interface TellNow {
  /** To be asked right before ends of these projects are recorded in a commit of their own. */
  offer(projectIds: readonly string[]): Promise<TellOffer>;
}

/** What this node may send of what is told. */
export interface TellOffer {
  /** Lanes of this node, for each project one: there it stands as started. None: all of it goes to the lanes of its destinations. */
  lanes: readonly LaneKey[];
  /** Of destinations that it knows. */
  types: readonly string[];
  /** So many in all, and for one destination together with what is on its way there. */
  room: number;
  each: number;
  onTheirWay: ReadonlyMap<string, number>;
  /** To be called in any case: with none when nothing was recorded. */
  kept(told: readonly ToldMessage[]): void;
}

/** What ends of writes are told as. */
export const toldType: EventType = 'write.async.done';

/** A message of {@link toldType}, as it was kept. */
export interface ToldMessage {
  projectId: string;
  installationId: string;
  groupRef: string | null;
  id: string;
  seq: string;
  destinationId: string;
  createdAt: Date;
  /** Of the request that the end is of. */
  trace: string | null;
  /** Of what was started; the rest is done from the lanes of the destinations. */
  started: { workSeq: string; body: string } | undefined;
}

/** Nothing is sent from here. */
export const nothingNow: TellOffer = {
  lanes: [],
  types: [],
  room: 0,
  each: 0,
  onTheirWay: new Map(),
  kept: () => undefined,
};

/** The parameters of `svc_tell` after the events. */
export function offerColumns({ lanes, types, room, each, onTheirWay }: TellOffer): unknown[] {
  return [
    lanes.map(({ projectId }) => projectId),
    lanes.map(({ id }) => id),
    lanes.map(({ lease }) => lease),
    types,
    room,
    each,
    [...onTheirWay.keys()],
    [...onTheirWay.values()],
  ];
}

/** How `svc_tell` is called in a statement: `first` is the number of the first of {@link offerColumns}. */
export function tellText(events: string, first: number): string {
  const types = ['uuid[]', 'uuid[]', 'uuid[]', 'text[]', 'int', 'int', 'uuid[]', 'int[]'];
  return `svc_tell(${[events, ...types.map((type, at) => `$${first + at}::${type}`)].join(', ')})`;
}
