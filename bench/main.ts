/** `npm run bench [-- id…] [--json] [--runs N]`: every figure that we publish, against a yardstick run beside it. */
import { endAll } from './at-end.ts';
import { accept } from './figures/accept.ts';
import { attemptKept } from './figures/attempt-kept.ts';
import { authUnknown } from './figures/auth-unknown.ts';
import { proxyBytes } from './figures/proxy-bytes.ts';
import { proxyMemory } from './figures/proxy-memory.ts';
import { proxyNginx } from './figures/proxy-nginx.ts';
import { acceptHot, acceptHotKeys } from './figures/accept-hot.ts';
import { cliGet, cliVersion, cliWrite } from './figures/cli.ts';
import { consolePage } from './figures/console-page.ts';
import { claimFlatMillion, claimFlatThousands } from './figures/claim-flat.ts';
import { drain } from './figures/drain.ts';
import { fairness } from './figures/fairness.ts';
import { queuePeer } from './figures/queue-peer.ts';
import { syncAddedP50, syncAddedP99 } from './figures/sync-added.ts';
import { waitingMemory } from './figures/waiting-memory.ts';
import { deliver } from './figures/deliver.ts';
import { deliverIsolated } from './figures/deliver-isolated.ts';
import { replay } from './figures/replay.ts';
import { replayLive } from './figures/replay-live.ts';
import { retention } from './figures/retention.ts';
import { readMemory } from './figures/read-memory.ts';
import { readThrough } from './figures/read-through.ts';
import { restart } from './figures/restart.ts';
import { schedules } from './figures/schedules.ts';
import { listOperations } from './figures/list-operations.ts';
import { live } from './figures/live.ts';
import { nodes2, nodes4 } from './figures/nodes.ts';
import { notifyAdded } from './figures/notify-added.ts';
import { tracedProxy, tracedWrite } from './figures/traced.ts';
import { table } from './figures/table.ts';
import { proxyAddedP50, proxyAddedP99, proxyRps } from './figures/proxy.ts';
import { measure, type Figure, type Measured } from './figure.ts';

const figures: Figure[] = [
  proxyRps,
  proxyNginx,
  proxyAddedP50,
  proxyAddedP99,
  proxyBytes,
  proxyMemory,
  authUnknown,
  accept,
  acceptHot,
  acceptHotKeys,
  drain,
  syncAddedP50,
  syncAddedP99,
  claimFlatThousands,
  claimFlatMillion,
  waitingMemory,
  queuePeer,
  fairness,
  readThrough,
  readMemory,
  deliver,
  deliverIsolated,
  replay,
  replayLive,
  retention,
  listOperations,
  consolePage,
  live,
  schedules,
  table,
  notifyAdded,
  attemptKept,
  tracedWrite,
  tracedProxy,
  nodes2,
  nodes4,
  restart,
  cliVersion,
  cliGet,
  cliWrite,
];

const args = process.argv.slice(2);
const asJson = args.includes('--json');
const runsAt = args.indexOf('--runs');
const runs = runsAt >= 0 ? Number(args[runsAt + 1]) : 5;
const wanted = args.filter((arg, i) => !arg.startsWith('--') && (runsAt < 0 || i !== runsAt + 1));
const unknown = [
  ...wanted.filter((id) => !figures.some((figure) => figure.id.startsWith(id))),
  ...args.filter((arg) => arg.startsWith('--') && arg !== '--json' && arg !== '--runs'),
];
if (unknown.length > 0 || !Number.isInteger(runs) || runs < 1) {
  console.error(
    `usage: npm run bench -- [id…] [--json] [--runs N]; the ids are ${figures.map(({ id }) => id).join(', ')}`,
  );
  process.exit(2);
}

/** By its id, or by a beginning that is the id of none. */
function isWanted({ id }: Figure): boolean {
  if (wanted.length === 0) return true;
  return wanted.some(
    (one) => id === one || (id.startsWith(one) && !figures.some((figure) => figure.id === one)),
  );
}

function row(cells: string[]): string {
  const widths = [18, 12, 12, 8, 8, 6];
  return cells
    .map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0)))
    .join('  ');
}

function show(figure: Figure, measured: Measured): void {
  if (asJson) return console.log(JSON.stringify(measured));
  const number = (value: number): string => (value >= 100 ? value.toFixed(0) : value.toFixed(2));
  const cells = [
    measured.id,
    number(measured.value),
    number(measured.yardstick),
    measured.ratio.toFixed(2),
    measured.goal,
    measured.holds ? 'yes' : 'NO',
  ];
  const notes = measured.notes.map((note) => `; ${note}`).join('');
  console.log(`${row(cells)}  ${figure.unit}; ${figure.about}, against ${figure.yardstick}${notes}`);
}

async function main(): Promise<void> {
  if (!asJson) console.log(row(['figure', 'value', 'yardstick', 'ratio', 'goal', 'holds']));
  for (const figure of figures) {
    if (!isWanted(figure)) continue;
    if (figure.skipped !== undefined) console.error(`${figure.id} is skipped: ${figure.skipped}`);
    else show(figure, await measure(figure, runs));
  }
}

async function leave(code: number): Promise<void> {
  await endAll();
  process.exit(code);
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void leave(1));
main().then(
  () => leave(0),
  (error: unknown) => {
    console.error(error);
    return leave(1);
  },
);
