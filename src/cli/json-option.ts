import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { exitCodes, Failure } from './failure.ts';

/** The object of an option: JSON, or `@file` with it, or `-` for what is piped in. */
export async function jsonOption(option: string, given: string): Promise<Record<string, unknown>> {
  const source = await sourceOf(option, given);
  try {
    const value: unknown = JSON.parse(source);
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return value as Record<string, unknown>;
  } catch (error) {
    throw wrong(`${option} is not JSON: ${(error as Error).message}.`);
  }
  throw wrong(`${option} is not a JSON object.`);
}

/** The text that an option gives as it is, in a file (`@file`) or by the pipe (`-`). */
export async function sourceOf(option: string, given: string): Promise<string> {
  if (given === '-') return text(process.stdin);
  if (!given.startsWith('@')) return given;
  return readFile(given.slice(1), 'utf8').catch((error: Error) => {
    throw wrong(`The file of ${option} cannot be read: ${error.message}.`);
  });
}

function wrong(message: string): Failure {
  return new Failure(
    message,
    `Write it as '{"name":"value"}', @file, or - for what is piped in.`,
    exitCodes.usage,
  );
}
