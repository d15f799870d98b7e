/** Its exit code, what stands behind the command, and what it is piped and has in its environment. */
export type Mistake = readonly [
  ends: 0 | 1 | 2 | 3 | 4,
  words: string,
  beside?: { input?: string; env?: Readonly<Record<string, string>> },
];

/** Mistakes of commands, by their words. */
export type Mistakes = Readonly<Record<string, readonly Mistake[]>>;

/** The words of a line as a shell has them. */
export function wordsOf(line: string): string[] {
  return [...line.matchAll(/(?:'[^']*'|"[^"]*"|[^\s'"])+/g)].map(([word]) =>
    word.replaceAll(/'([^']*)'|"([^"]*)"/g, (_, single?: string, double?: string) => single ?? double ?? ''),
  );
}
