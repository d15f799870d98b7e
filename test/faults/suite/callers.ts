import { closeSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, request } from 'undici';
import type { Caller, Write } from './workload.ts';

/** The outcome of a record that a synchronous write answered. */
export type Claim = 'applied' | 'notApplied' | 'unknown';

/** One line of the client's own ledger: a request that was accepted. */
export interface Accepted {
  operationId: string;
  markers: string[];
  kind: Write['kind'];
  object: string;
  route: Write['route'];
  keyed: boolean;
  target?: Write['target'];
  allOrNone?: true;
  claim?: Claim;
  /** Of one that was not done: the status and why. */
  refusal?: string;
  /** Its operation was named as one that may not be there. */
  isInDoubt?: true;
  /** Whether it was sent with an `Idempotency-Key`. */
  hasKey: boolean;
  /** What came of the requests of this write before the one that was accepted. */
  before: string[];
  /** When its first request went out, and when the answer came, in milliseconds. */
  since: number;
  at: number;
}

/** The ledger of the callers: a file, written before the next request goes out. */
export interface ClientLedger {
  readonly accepted: number;
  /** Markers of writes that were refused, which their callers did not send again. */
  readonly givenUp: ReadonlySet<string>;
  note(line: Accepted): void;
  giveUp(markers: readonly string[]): void;
  read(): Accepted[];
  close(): void;
}

export function createClientLedger(path: string): ClientLedger {
  const file = openSync(path, 'a');
  let accepted = 0;
  const givenUp = new Set<string>();
  return {
    get accepted() {
      return accepted;
    },
    givenUp,
    giveUp: (markers) => {
      for (const marker of markers) givenUp.add(marker);
    },
    note(line) {
      writeSync(file, `${JSON.stringify(line)}\n`);
      accepted += 1;
    },
    read() {
      fsyncSync(file);
      const lines = readFileSync(path, 'utf8').split('\n').filter(Boolean);
      return lines.map((line) => JSON.parse(line) as Accepted);
    },
    close: () => closeSync(file),
  };
}

export interface Surface {
  /** The base URLs of the nodes. */
  nodes: readonly string[];
  projectId: string;
  apiKey: string;
}

interface WriteAnswer {
  operationId?: string;
  code?: string;
  category?: string;
  result?: { success: boolean };
  errors?: { category?: string; message: string }[];
}

export interface Tally {
  /** Requests without a key and without an answer that says whether they were accepted: each may have been done once. */
  unanswered: number;
  /** Repetitions that got the answer of an earlier request. */
  replayed: number;
  refused: Record<string, number>;
}

/** The share of writes without a key that are not sent again once they were refused. */
const givenUpShare = 0.5;

/** A frozen node answers after its freeze; a caller does not wait for it. */
const patienceMs = 8_000;

/** Sends one caller's writes, one after the other, until `over`. Keyed requests are repeated on any node until they are answered. */
export async function runCaller(
  caller: Caller,
  surface: Surface,
  ledger: ClientLedger,
  tally: Tally,
  over: () => boolean,
  pauseMs: number,
): Promise<void> {
  const agent = new Agent({ connections: surface.nodes.length });
  try {
    while (!over()) {
      await runWrite(caller, surface, ledger, tally, agent);
      if (pauseMs > 0) await sleep(caller.random.int(2 * pauseMs));
    }
  } finally {
    await agent.destroy();
  }
}

async function runWrite(
  caller: Caller,
  surface: Surface,
  ledger: ClientLedger,
  tally: Tally,
  agent: Agent,
): Promise<void> {
  const write = caller.next();
  const before: string[] = [];
  const since = Date.now();
  for (;;) {
    const sent = await send(write, surface, caller.random.pick(surface.nodes), agent);
    if (sent === 'not connected') {
      await sleep(20 + caller.random.int(60));
      continue;
    }
    const isInDoubt = sent === 'no answer' || mayBeStored(write, sent.body);
    const isOpen = isInDoubt || sent.body.operationId === undefined || isBusy(sent.body);
    if (!isOpen) {
      if (sent.replayed) tally.replayed += 1;
      return ledger.note(acceptedOf(write, sent, { before, since }));
    }
    const reason = sent === 'no answer' ? sent : `${sent.status} ${sent.body.code ?? ''}`;
    tally.refused[reason] = (tally.refused[reason] ?? 0) + 1;
    // A second request could be a second write.
    if (write.key === undefined && isInDoubt) {
      tally.unanswered += 1;
      return;
    }
    // It was told that nothing of it was done.
    if (write.key === undefined && caller.random.next() < givenUpShare) return ledger.giveUp(write.markers);
    before.push(reason);
    await sleep(100 + caller.random.int(300));
  }
}

/** The operation is named of a write that waits for nobody, and may not be there. */
function mayBeStored({ route }: Write, { code }: WriteAnswer): boolean {
  return route !== 'synchronous' && code === 'outcome-unknown';
}

/**
 * The same of a synchronous write without a key: it was sent, or another node may send it, or it is not there, since it waited
 * for its turn, or came too late, and was taken back.
 */
function isDoubtOf({ route, key }: Write, { code }: WriteAnswer): boolean {
  return route === 'synchronous' && key === undefined && code === 'outcome-unknown';
}

/** The first request with this key is under way: the answer names its operation only. */
function isBusy({ code }: WriteAnswer): boolean {
  return code === 'idempotency-key-in-flight';
}

async function send(
  write: Write,
  { projectId, apiKey }: Surface,
  base: string,
  dispatcher: Agent,
): Promise<{ status: number; body: WriteAnswer; replayed: boolean } | 'no answer' | 'not connected'> {
  try {
    const answer = await request(
      `${base}/write/v1/projects/${projectId}/integrations/${write.integration}/objects/${write.object}`,
      {
        method: 'POST',
        dispatcher,
        signal: AbortSignal.timeout(patienceMs),
        headers: {
          'x-api-key': apiKey,
          'content-type': 'application/json',
          ...(write.key === undefined ? {} : { 'idempotency-key': write.key }),
        },
        body: JSON.stringify(write.body),
      },
    );
    const body = (await answer.body.json()) as WriteAnswer;
    // A 503 is of the node and the moment: kept under a key it would be repeated for as long as that is.
    const replayed = answer.headers['idempotent-replayed'] === 'true';
    if (mustNotBe(answer.statusCode, body) || (replayed && answer.statusCode === 503))
      throw new Refused(`${write.kind} ${write.object}: ${answer.statusCode} ${JSON.stringify(body)}`);
    return { status: answer.statusCode, body, replayed };
  } catch (error) {
    if (error instanceof Refused) throw error;
    return (error as { code?: string }).code === 'ECONNREFUSED' ? 'not connected' : 'no answer';
  }
}

/** Whether a request was refused that the platform should have taken; the operation of another one may be named. */
function mustNotBe(status: number, { code, operationId }: WriteAnswer): boolean {
  if (code === 'idempotency-key-reused' || code === 'operation-erased') return true;
  return status < 500 && status !== 429 && status !== 409 && !operationId;
}

/** The suite itself is wrong, or the platform is. */
class Refused extends Error {
  override readonly name = 'Refused';
}

function acceptedOf(
  write: Write,
  { status, body }: { status: number; body: WriteAnswer },
  requests: Pick<Accepted, 'before' | 'since'>,
): Accepted {
  const refusal = status === 200 ? undefined : [status, body.code, body.errors?.[0]?.message];
  const { body: _, key, integration: ___, ...told } = write;
  return {
    ...told,
    ...requests,
    hasKey: key !== undefined,
    at: Date.now(),
    operationId: body.operationId ?? '',
    ...(write.route === 'synchronous' ? { claim: claimOf(body) } : {}),
    ...(refusal ? { refusal: refusal.filter(Boolean).join(' ') } : {}),
    ...(isDoubtOf(write, body) ? { isInDoubt: true } : {}),
  };
}

function claimOf({ result, category, errors }: WriteAnswer): Claim {
  if (result?.success === true) return 'applied';
  return (category ?? errors?.[0]?.category) === 'unknownOutcome' ? 'unknown' : 'notApplied';
}
