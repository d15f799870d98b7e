import { readFileSync } from 'node:fs';

/** What stands in the file that a variable names. Throws what its operator is told. */
export function textOfFile(file: string, name: string): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    throw new Error(`cannot be read from the file that ${name} names: ${(error as Error).message}`, {
      cause: error,
    });
  }
}
