/** `npm run bench [-- id…] [--json] [--runs N]`: every figure that we publish, against a yardstick run beside it. */
import { accept } from './figures/accept.ts';
import { proxyAddedP50, proxyAddedP99, proxyRps } from './figures/proxy.ts';
import { measure, type Figure, type Measured } from './figure.ts';

const figures: Figure[] = [proxyRps, proxyAddedP50, proxyAddedP99, accept];

const args = process.argv.slice(2);
const asJson = args.includes('--json');
const runsAt = args.indexOf('--runs');
const runs = runsAt >= 0 ? Number(args[runsAt + 1]) : 5;
const wanted = args.filter((arg, i) => !arg.startsWith('--') && (runsAt < 0 || i !== runsAt + 1));
const unknown = wanted.filter((id) => !figures.some((figure) => figure.id.startsWith(id)));
if (unknown.length > 0 || !Number.isInteger(runs) || runs < 1) {
  console.error(
    `usage: npm run bench -- [id…] [--json] [--runs N]; the ids are ${figures.map(({ id }) => id).join(', ')}`,
  );
  process.exit(2);
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
  console.log(`${row(cells)}  ${figure.unit}; ${figure.about}, against ${figure.yardstick}`);
}

if (!asJson) console.log(row(['figure', 'value', 'yardstick', 'ratio', 'goal', 'holds']));
for (const figure of figures) {
  if (wanted.length > 0 && !wanted.some((id) => figure.id.startsWith(id))) continue;
  show(figure, await measure(figure, runs));
}
process.exit(0);
