/** Says a result: as JSON when that is asked for, otherwise as text. */
export function say(options: { json?: boolean }, value: unknown, text: string): void {
  process.stdout.write(`${options.json ? JSON.stringify(value) : text}\n`);
}

/** Tells of something beside the result. */
export function tell(text: string): void {
  process.stderr.write(`${text}\n`);
}

export function counted(count: number, noun: string, plural = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : plural}`;
}
