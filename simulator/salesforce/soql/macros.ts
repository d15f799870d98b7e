/** A span of time in ms, the end excluded. */
type Span = { start: number; end: number };

const day = 86_400_000;

/** What a date literal such as TODAY or LAST_N_DAYS:7 covers, in UTC with weeks from Sunday. */
export function spanOf(macro: string, n: number, now: number): Span {
  const today = Math.floor(now / day) * day;
  if (macro === 'TODAY') return days(today, 0, 1);
  if (macro === 'YESTERDAY') return days(today, -1, 0);
  if (macro === 'TOMORROW') return days(today, 1, 2);
  if (macro === 'LAST_90_DAYS') return days(today, -90, 1);
  if (macro === 'NEXT_90_DAYS') return days(today, 1, 91);
  const ago = /^N_(DAYS|WEEKS|MONTHS|YEARS)_AGO$/.exec(macro);
  if (ago) return units(today, `${ago[1]}`, -n, 1);
  const rolling = /^(LAST|NEXT)_N_(DAYS|WEEKS|MONTHS|YEARS)$/.exec(macro);
  if (rolling) return rollingSpan(today, `${rolling[2]}`, rolling[1] === 'LAST', n);
  const [direction, unit] = macro.split('_');
  const from = direction === 'LAST' ? -1 : direction === 'NEXT' ? 1 : 0;
  return units(today, `${unit}S`, from, 1);
}

function days(today: number, from: number, to: number): Span {
  return { start: today + from * day, end: today + to * day };
}

/** LAST_N_DAYS ends with today; the longer units end before the current one. */
function rollingSpan(today: number, unit: string, last: boolean, n: number): Span {
  if (unit === 'DAYS') return last ? days(today, -n, 1) : days(today, 1, n + 1);
  return last ? units(today, unit, -n, n) : units(today, unit, 1, n);
}

/** `count` whole units that begin `from` units away from the one today is in. */
function units(today: number, unit: string, from: number, count: number): Span {
  const date = new Date(today);
  const year = date.getUTCFullYear();
  const month = date.getUTCMonth();
  const span = (at: (offset: number) => number): Span => ({ start: at(from), end: at(from + count) });
  if (unit === 'DAYS') return span((k) => today + k * day);
  if (unit === 'WEEKS') return span((k) => today - date.getUTCDay() * day + k * 7 * day);
  if (unit === 'MONTHS') return span((k) => Date.UTC(year, month + k, 1));
  if (unit === 'QUARTERS') return span((k) => Date.UTC(year, Math.floor(month / 3) * 3 + k * 3, 1));
  return span((k) => Date.UTC(year + k, 0, 1));
}
