/** What the process says with its exit code. `docs/cli.md` lists them. */
export const exitCodes = { refused: 1, usage: 2, credentials: 3, unreachable: 4, interrupted: 130 } as const;

/** What ends a command: one sentence, one remedy. */
export class Failure extends Error {
  readonly exitCode: number;
  readonly remedy: string;
  /** What a program reads with `--json`. */
  readonly details: object;

  constructor(message: string, remedy: string, exitCode: number = exitCodes.refused, details: object = {}) {
    super(message);
    this.remedy = remedy;
    this.exitCode = exitCode;
    this.details = details;
  }
}

/** As people read it, or a program. */
export function saidOf({ message, remedy, exitCode, details }: Failure, asJson: boolean): string {
  if (!asJson) return `${message}\n${remedy}`;
  const code = codes[exitCode] ?? 'refused';
  return JSON.stringify({ error: { message, remedy, code, ...details } });
}

/** Where svc gave none: what the command itself found. */
const codes: Readonly<Record<number, string>> = {
  [exitCodes.usage]: 'usage',
  [exitCodes.credentials]: 'unauthenticated',
  [exitCodes.unreachable]: 'unreachable',
  [exitCodes.interrupted]: 'interrupted',
};
