import { exitCodes, Failure } from './failure.ts';
import { readPiped, readText } from './text-file.ts';

/** The object of an option: JSON, or `@file` with it, or `-` for what is piped in. */
export async function jsonOption(
  option: string,
  given: string,
  example = '{"name":"value"}',
): Promise<Record<string, unknown>> {
  return objectIn(option, await sourceOf(option, given), howOf(example));
}

/** The object that a file holds; JSON in its place is taken as such. */
export async function jsonFile(option: string, given: string): Promise<Record<string, unknown>> {
  const remedy = `Give ${option} a file that holds a JSON object.`;
  const isJson = given.trimStart().startsWith('{');
  return objectIn(isJson ? option : given, isJson ? given : await readText(given, remedy), remedy);
}

/** The text that an option gives as it is, in a file (`@file`) or by the pipe (`-`). */
export async function sourceOf(option: string, given: string): Promise<string> {
  if (given === '-') return readPiped();
  if (!given.startsWith('@')) return given;
  return readText(given.slice(1), `Name the file of ${option} behind its @.`);
}

function objectIn(name: string, source: string, remedy: string): Record<string, unknown> {
  const wrong = (what: string): Failure => new Failure(`${name} ${what}.`, remedy, exitCodes.usage);
  if (source.trim() === '') throw wrong('is empty');
  let value: unknown;
  try {
    value = JSON.parse(source);
  } catch (error) {
    throw wrong(`is not JSON: ${(error as Error).message}`);
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>;
  throw wrong(
    `is ${Array.isArray(value) ? 'an array' : `a ${value === null ? 'null' : typeof value}`}, not a JSON object`,
  );
}

function howOf(example: string): string {
  return `Write it as '${example}', @file, or - for what is piped in.`;
}
