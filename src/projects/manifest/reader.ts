import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { createQueue } from '../../kit/queue.ts';
import { failed } from './finding.ts';
import type { Ignored } from './ignore.ts';
import type { ManifestCatalog, ProviderFacts } from './rules/context.ts';
import type { Manifest, ManifestIssue } from '../schema.ts';

/** A manifest that was read: `manifest` is there exactly when nothing of severity error was found. */
export interface ReadManifest {
  manifest?: Manifest;
  errors: ManifestIssue[];
  warnings: ManifestIssue[];
  /** Where the integrations name their providers, objects, fields and destinations, by path. */
  places: Record<string, { line: number; column: number }>;
  /** What comments silence of warnings that are found later. */
  ignored: Ignored;
}

/** What the rules know of the providers, by name. */
export type CatalogFacts = ReadonlyMap<string, ProviderFacts>;

export interface ManifestReader {
  /** Checks the text of an `svc.yaml` beside the event loop, one after another; projects take turns. Throws overloaded. */
  read(projectId: string, text: string): Promise<ReadManifest>;
  close(): Promise<void>;
}

const patienceMs = 30_000;
const idleMs = 30_000;
const memoryMb = 512;
/** Of a megabyte each. A hostile one takes some seconds. */
const texts = { atOnce: 1, waiting: 64, waitingOfOne: 8, retryAfterSeconds: 5 };

/** Reads manifests in a thread, which starts with the first one and ends when none comes, or when one is too much for it. */
export function createManifestReader(catalog: ManifestCatalog): ManifestReader {
  let thread: Worker | undefined;
  let idle: NodeJS.Timeout | undefined;
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = createQueue(texts);

  async function end(): Promise<void> {
    clearTimeout(idle);
    const ending = thread;
    thread = undefined;
    await ending?.terminate();
  }

  async function readNext(text: string): Promise<ReadManifest> {
    clearTimeout(idle);
    thread ??= startThread(catalog);
    const answer = await answerOf(thread, text).catch(async (error: unknown) => {
      await end();
      throw error;
    });
    if (!answer) {
      await end();
      return tooMuch;
    }
    idle = setTimeout(() => void end(), idleMs).unref();
    return answer;
  }

  return {
    read(projectId, text) {
      const answer = inTurn(() => readNext(text), projectId);
      last = Promise.allSettled([last, answer]);
      return answer;
    },
    async close() {
      await last;
      await end();
    },
  };
}

function startThread(catalog: ManifestCatalog): Worker {
  const facts: CatalogFacts = new Map(
    catalog.names().flatMap((name) => {
      const found = catalog.find(name);
      return found ? [[name, found]] : [];
    }),
  );
  const thread = new Worker(new URL('reader-thread.ts', import.meta.url), {
    workerData: facts,
    resourceLimits: { maxOldGenerationSizeMb: memoryMb },
  });
  // A thread in use keeps the process by its pending answer; an idle one does not.
  thread.unref();
  // Told to who waits for an answer; without a listener it would end the process.
  thread.on('error', () => undefined);
  return thread;
}

/** What the thread finds; undefined when it takes too long or runs out of memory. Throws what is a fault of ours. */
async function answerOf(thread: Worker, text: string): Promise<ReadManifest | undefined> {
  const giveUp = new AbortController();
  const timer = setTimeout(() => giveUp.abort(), patienceMs);
  const { signal } = giveUp;
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  thread.postMessage(text);
  try {
    // An error of the thread rejects.
    const [answer] = (await once(thread, 'message', { signal })) as [ReadManifest];
    return answer;
  } catch (error) {
    if (signal.aborted || (error as { code?: string }).code === 'ERR_WORKER_OUT_OF_MEMORY') return undefined;
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

const { rule, severity, message } = failed(
  'yaml-size',
  [],
  'the manifest takes too long to read; deploy less at once',
);
const tooMuch: ReadManifest = {
  errors: [{ rule, severity, message, path: '', line: 1, column: 1 }],
  warnings: [],
  places: {},
  ignored: new Map(),
};
