import type { Database } from '../db/database.ts';
import type { Logger } from '../log.ts';
import { changesChannel, watchChannel } from './channels.ts';
import { createPast, type Past } from './past.ts';
import { createTeller, everyMs, everything, type Teller } from './teller.ts';
import { createWatched, messagesOf, type Watched } from './watched.ts';
import { merged, readBatch, type Batch } from './wire.ts';

/**
 * Tells those who look at a project what changes in it, on any node, by notifications of the database. While nobody looks,
 * nothing is told. It is a hint to look again: nothing is kept of it, and where some of it may be lost, that is said.
 */
export interface Changes {
  /** Calls back at most once in a quarter of a second. `lastId`: the last that the watcher has seen. Answers how to stop. */
  watch(projectId: string, lastId: string | undefined, heard: Heard): () => void;
  /** Tells what is not told yet. */
  close(): Promise<void>;
}

/** Undefined: something may have changed that is not told; look at everything again. */
export type Heard = (news: News | undefined) => void;

export interface News extends Pick<Batch, 'changes' | 'more'> {
  id: string;
}

/** Asks who watches what: for a node that has just begun to listen. */
const question = '?';
const announceEveryMs = 5_000;
/** After this long every node has heard of a watch. */
const heardByAllMs = 1_000;

interface Topic {
  watchers: Set<Heard>;
  waiting: Batch[];
  /** Until the watchers may be told again. */
  rest: NodeJS.Timeout | undefined;
}

interface State {
  topics: Map<string, Topic>;
  watched: Watched;
  teller: Teller;
  /** Since anything was heard, something changed at which nobody was known to look. */
  isQuiet: boolean;
  past: Past;
  announcedAt: number;
  announce(projectIds: readonly string[]): void;
}

export function createChanges(
  { notices, onTold }: Pick<Database, 'notices' | 'onTold'>,
  log: Pick<Logger, 'debug'>,
): Changes {
  const send = (channel: string, text: string): Promise<void> => notices.notify(channel, text);
  const teller = createTeller((text) => send(changesChannel, text), log);
  const state: State = {
    topics: new Map(),
    watched: createWatched(),
    teller,
    isQuiet: false,
    past: createPast(),
    announcedAt: performance.now(),
    announce(projectIds) {
      for (const text of messagesOf(projectIds)) send(watchChannel, text).catch(() => undefined);
    },
  };
  onTold((projectId, change) => {
    if (state.watched.has(projectId)) teller.tell(projectId, change);
    else state.isQuiet = true;
  });
  const stops = [
    notices.listen(watchChannel, (text) => {
      if (text !== undefined) state.isQuiet = false;
      if (text === undefined) send(watchChannel, question).catch(() => undefined);
      else if (text === question) state.announce([...state.topics.keys()]);
      else state.watched.heard(text.split(','));
    }),
    notices.listen(changesChannel, (text) => hear(state, text)),
  ];
  const announcing = setInterval(() => announceAll(state), announceEveryMs);
  announcing.unref();
  return {
    watch: (projectId, lastId, heard) => watch(state, projectId, lastId, heard),
    async close() {
      clearInterval(announcing);
      await teller.close();
      for (const stop of stops) stop();
      for (const { rest } of state.topics.values()) clearTimeout(rest);
      state.topics.clear();
    },
  };
}

function announceAll(state: State): void {
  const now = performance.now();
  // This process stood still for so long that others may take its watches for over.
  if (now - state.announcedAt > 2 * announceEveryMs) lookAgain(state);
  state.announcedAt = now;
  state.announce([...state.topics.keys()]);
}

function hear(state: State, text: string | undefined): void {
  if (text === undefined) return begin(state);
  state.isQuiet = false;
  if (text === everything) return lookAgain(state);
  const batch = readBatch(text);
  if (!batch) return;
  state.past.add(batch, text.length);
  const topic = state.topics.get(batch.projectId);
  if (!topic) return;
  topic.waiting.push(batch);
  if (!topic.rest) pass(topic);
}

/** Listening began, again perhaps: nobody knows what was told before, and who has looked since then at what changed here. */
function begin(state: State): void {
  if (state.isQuiet) state.teller.miss();
  state.teller.makeUp();
  lookAgain(state);
}

function pass(topic: Topic): void {
  topic.rest = undefined;
  const last = topic.waiting.at(-1);
  if (!last) return;
  const news = { id: last.id, ...merged(topic.waiting) };
  topic.waiting = [];
  topic.rest = setTimeout(() => pass(topic), everyMs);
  topic.rest.unref();
  for (const heard of topic.watchers) heard(news);
}

function lookAgain({ topics, past }: State): void {
  past.forget();
  for (const topic of topics.values()) {
    topic.waiting = [];
    for (const heard of topic.watchers) heard(undefined);
  }
}

function watch(state: State, projectId: string, lastId: string | undefined, heard: Heard): () => void {
  const { topics, watched, past } = state;
  const since = watched.since(projectId);
  const topic = topics.get(projectId) ?? { watchers: new Set(), waiting: [], rest: undefined };
  if (!topics.has(projectId)) {
    topics.set(projectId, topic);
    state.announce([projectId]);
  }
  const missed = lastId === undefined ? [] : past.after(projectId, lastId, since);
  const last = missed?.at(-1);
  if (last && missed) heard({ id: last.id, ...merged(missed) });
  if (!missed) heard(undefined);
  topic.watchers.add(heard);
  // What changed before all nodes knew of the watch was told by none of them.
  const settling = since === undefined || performance.now() - since < heardByAllMs;
  const later = settling ? setTimeout(() => heard(undefined), heardByAllMs) : undefined;
  later?.unref();
  return () => {
    clearTimeout(later);
    topic.watchers.delete(heard);
    if (topic.watchers.size > 0) return;
    clearTimeout(topic.rest);
    if (topics.get(projectId) === topic) topics.delete(projectId);
  };
}
