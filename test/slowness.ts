const text = JSON.stringify(
  Array.from({ length: 50_000 }, (_, index) => ({ [`field_${index % 500}`]: `value ${index}` })),
);
/** Reading the text took so long on the machine on which the limits of the tests were set. */
const usualMs = 8.5;
const attempts = 3;

/** How many times as long as usual the processor takes just now; at least 1. The best of a few attempts, about 10 ms each. */
export function slowness(): number {
  const took = Array.from({ length: attempts }, () => {
    const begun = performance.now();
    JSON.parse(text);
    return performance.now() - begun;
  });
  return Math.max(1, Math.min(...took) / usualMs);
}
