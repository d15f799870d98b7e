/** A span of time in ms, the end excluded. */
type Span = { start: number; end: number };

const day = 86_400_000;

/**
 * What a date literal such as TODAY or LAST_N_DAYS:7 covers, in UTC with weeks from Sunday.
 * `fiscalMonth` (1 to 12) is where the org's year begins.
 */
export function spanOf(macro: string, n: number, now: number, fiscalMonth: number): Span {
  const today = Math.floor(now / day) * day;
  if (macro === 'TODAY') return days(today, 0, 1);
  if (macro === 'YESTERDAY') return days(today, -1, 0);
  if (macro === 'TOMORROW') return days(today, 1, 2);
  if (macro === 'LAST_90_DAYS') return days(today, -90, 1);
  if (macro === 'NEXT_90_DAYS') return days(today, 1, 91);
  const unit = (name: string): Unit => unitOf(name, today, fiscalMonth);
  const ago = /^N_(\w+)_AGO$/.exec(macro);
  if (ago) return span(unit(`${ago[1]}`), -n, 1);
  const rolling = /^(LAST|NEXT)_N_(\w+)$/.exec(macro);
  if (rolling) return rollingSpan(unit(`${rolling[2]}`), `${rolling[2]}`, rolling[1] === 'LAST', n);
  const [, direction, name] = /^(THIS|LAST|NEXT)_(\w+)$/.exec(macro) ?? [];
  const from = direction === 'LAST' ? -1 : direction === 'NEXT' ? 1 : 0;
  return span(unit(`${name}S`), from, 1);
}

function days(today: number, from: number, to: number): Span {
  return { start: today + from * day, end: today + to * day };
}

/** LAST_N_DAYS ends with today; the longer units end before the current one. */
function rollingSpan(unit: Unit, name: string, last: boolean, n: number): Span {
  if (name === 'DAYS') return last ? span(unit, -n, n + 1) : span(unit, 1, n);
  return last ? span(unit, -n, n) : span(unit, 1, n);
}

/** When the unit begins that is `k` units away from the current one. */
type Unit = (k: number) => number;

function span(unit: Unit, from: number, count: number): Span {
  return { start: unit(from), end: unit(from + count) };
}

function unitOf(name: string, today: number, fiscalMonth: number): Unit {
  const date = new Date(today);
  if (name === 'DAYS') return (k) => today + k * day;
  if (name === 'WEEKS') return (k) => today - date.getUTCDay() * day + k * 7 * day;
  const size = name.endsWith('QUARTERS') ? 3 : name.endsWith('YEARS') ? 12 : 1;
  const origin = name.startsWith('FISCAL_') ? fiscalMonth - 1 : 0;
  const month = date.getUTCFullYear() * 12 + date.getUTCMonth();
  const first = Math.floor((month - origin) / size) * size + origin;
  return (k) => Date.UTC(Math.floor((first + k * size) / 12), (first + k * size) % 12, 1);
}
