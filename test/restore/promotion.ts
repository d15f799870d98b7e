/**
 * Promotes a replica under load: two real servers, streaming replication, synchronous and not. The primary ends at once, the
 * replica takes over at the same address, and what callers were promised is compared with the ledger and with the provider.
 * `npm run test:promotion`; needs pg_basebackup. Fails when something promised is lost, or done twice, under synchronous replication.
 */
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { deploy, effects, install, type Customer } from '../customer.ts';
import { startPlatform, type Platform } from '../platform.ts';
import { createPostgres, findPostgres, follow, promote, type PostgresServer } from '../postgres-server.ts';

/** An address that leads to one server and then to another, as that of a cluster does. */
interface Address {
  url: string;
  leadTo(server: PostgresServer): void;
  close(): void;
}

async function openAddress(first: PostgresServer): Promise<Address> {
  let { port } = first;
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(port, '127.0.0.1');
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(one);
      one.on('error', () => other.destroy());
      one.on('close', () => {
        sockets.delete(one);
        other.destroy();
      });
      one.pipe(other);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = new URL(first.url);
  url.port = String((server.address() as AddressInfo).port);
  return {
    url: url.href,
    leadTo: (next) => {
      port = next.port;
      for (const socket of sockets) socket.destroy();
    },
    close: () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

interface Report {
  replication: 'synchronous' | 'asynchronous';
  accepted: number;
  /** Accepted, and unknown to the database after the promotion. */
  lost: number;
  /** Still without an end three minutes after the load. */
  unfinished: number;
  /** More than one effect of one write at the provider. */
  twice: number;
  refused: number;
  /** From the end of the primary to the first write that was accepted again. */
  awayMs: number;
}

const callers = 4;
/** Between two writes of a caller: the provider takes no more than this in good time. */
const pauseMs = 100;
const loadMs = 8_000;

async function run(bin: string, replication: Report['replication']): Promise<Report> {
  const primary = await createPostgres(bin);
  const replica = await follow(bin, primary);
  if (replication === 'synchronous') {
    await primary.sql(`ALTER SYSTEM SET synchronous_standby_names = '*'`);
    await primary.sql('SELECT pg_reload_conf()');
  }
  const address = await openAddress(primary);
  let platform: Platform | undefined;
  try {
    platform = await startPlatform({ databaseUrl: address.url });
    await deploy(platform);
    const customer = await install(platform, 'hubspot-crm', 'group-1');
    const load = startLoad(customer);
    await sleep(loadMs / 2);
    const endedAt = performance.now();
    await primary.kill();
    // The new primary has no replica, so no commit may wait for one.
    await promote(replica);
    await replica.sql(`ALTER SYSTEM SET synchronous_standby_names = ''`);
    await replica.sql('SELECT pg_reload_conf()');
    address.leadTo(replica);
    await sleep(loadMs);
    const { accepted, refused, acceptedAt } = await load.end();
    const firstAgain = acceptedAt.find((at) => at > endedAt + 100) ?? Infinity;
    return {
      replication,
      accepted: accepted.size,
      ...(await compare(platform, accepted)),
      refused,
      awayMs: Math.round(firstAgain - endedAt),
    };
  } finally {
    await platform?.stop();
    address.close();
    await primary.remove();
    await replica.remove();
  }
}

function startLoad(customer: Customer) {
  const accepted = new Map<string, string>();
  const acceptedAt: number[] = [];
  let refused = 0;
  const ending = new AbortController();
  let made = 0;
  const call = async (): Promise<void> => {
    while (!ending.signal.aborted) {
      const email = `w${(made += 1)}@example.com`;
      const answer = await customer
        .write('contacts', { type: 'create', mode: 'asynchronous', record: { email } })
        .catch(() => undefined);
      if (answer?.status === 200) {
        accepted.set(answer.body.operationId, email);
        acceptedAt.push(performance.now());
        await sleep(pauseMs);
      } else {
        refused += 1;
        await sleep(50);
      }
    }
  };
  const ends = Array.from({ length: callers }, call);
  return {
    end: async () => {
      ending.abort();
      await Promise.all(ends);
      return { accepted, refused, acceptedAt };
    },
  };
}

/** What the callers know against what the database and the provider know. */
async function compare(
  platform: Platform,
  accepted: ReadonlyMap<string, string>,
): Promise<Pick<Report, 'lost' | 'unfinished' | 'twice'>> {
  const giveUpAt = Date.now() + 180_000;
  let lost = 0;
  let unfinished = 0;
  for (const id of accepted.keys()) {
    for (;;) {
      const { status, body } = await platform.call<{ status?: string }>(
        'GET',
        `/projects/default/operations/${id}`,
      );
      if (status === 404) lost += 1;
      const isOpen = status !== 404 && body.status !== 'success' && body.status !== 'failure';
      if (!isOpen) break;
      if (Date.now() > giveUpAt) {
        unfinished += 1;
        break;
      }
      await sleep(100);
    }
  }
  const counts = new Map<string, number>();
  for (const { kind, fields } of await effects(platform.hubspot, 'contacts'))
    if (kind === 'create')
      counts.set(String(fields['email']), (counts.get(String(fields['email'])) ?? 0) + 1);
  return { lost, unfinished, twice: [...counts.values()].filter((count) => count > 1).length };
}

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const bin = findPostgres();
if (!bin) {
  process.stderr.write('pg_basebackup is missing: install PostgreSQL with its tools (Debian: postgresql)\n');
  process.exit(2);
}
for (const replication of ['synchronous', 'asynchronous'] as const) {
  const report = await run(bin, replication);
  process.stdout.write(`${JSON.stringify(report)}\n`);
  const { lost, unfinished, twice } = report;
  if (replication === 'synchronous' && lost + unfinished + twice > 0) process.exitCode = 1;
}
