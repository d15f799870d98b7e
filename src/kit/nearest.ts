/** Longer names are not compared: the cost grows with the square of the length. */
const longestName = 64;

/** The candidate that was probably meant: same letters in another case, or at most a third of its letters wrong. */
export function nearest(name: string, candidates: Iterable<string>): string | undefined {
  if (name.length > longestName) return undefined;
  const wanted = name.toLowerCase();
  let best: string | undefined;
  let bestDistance = Math.max(1, Math.floor(wanted.length / 3)) + 1;
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - wanted.length) >= bestDistance) continue;
    const distance = editDistance(wanted, candidate.toLowerCase(), bestDistance);
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance];
  }
  return best;
}

/** Insertions, deletions, substitutions and swaps of neighbours that turn one word into the other; `limit` when it is no less. */
function editDistance(left: string, right: string, limit: number): number {
  let before: number[] = [];
  let row = Array.from({ length: right.length + 1 }, (_, column) => column);
  for (let i = 1; i <= left.length; i += 1) {
    const next = [i];
    let least = i;
    for (let j = 1; j <= right.length; j += 1) {
      const substitution = (row[j - 1] ?? 0) + (left[i - 1] === right[j - 1] ? 0 : 1);
      const isSwap = i > 1 && j > 1 && left[i - 1] === right[j - 2] && left[i - 2] === right[j - 1];
      const swap = isSwap ? (before[j - 2] ?? 0) + 1 : Infinity;
      const distance = Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, substitution, swap);
      next.push(distance);
      least = Math.min(least, distance);
    }
    if (least >= limit) return limit;
    [before, row] = [row, next];
  }
  return row[right.length] ?? 0;
}
