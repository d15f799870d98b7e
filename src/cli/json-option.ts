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
  return objectIn(...(await fileOf(option, given, remedy)), remedy);
}

/** The same of any JSON value: `true`, `"0 5 * * *"`, `null`. */
export async function jsonValueFile(option: string, given: string): Promise<unknown> {
  const remedy = `Give ${option} JSON, or a file that holds it.`;
  return valueIn(...(await fileOf(option, given, remedy)), remedy);
}

/** What is read, by its name, and its text. A file whose name is JSON is named as `./true`. */
async function fileOf(option: string, given: string, remedy: string): Promise<[string, string]> {
  const isJson = /^\s*(?:[{["]|(?:true|false|null|-?\d[\d.eE+-]*)\s*$)/.test(given);
  return isJson ? [option, given] : [given, await readText(given, remedy)];
}

/** The text that an option gives as it is, in a file (`@file`) or by the pipe (`-`). */
export async function sourceOf(option: string, given: string): Promise<string> {
  if (given === '-') return readPiped();
  if (!given.startsWith('@')) return given;
  return readText(given.slice(1), `Name the file of ${option} behind its @.`);
}

function objectIn(name: string, source: string, remedy: string): Record<string, unknown> {
  const value = valueIn(name, source, remedy);
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>;
  const kind = Array.isArray(value) ? 'an array' : `a ${value === null ? 'null' : typeof value}`;
  throw new Failure(`${name} is ${kind}, not a JSON object.`, remedy, exitCodes.usage);
}

function valueIn(name: string, source: string, remedy: string): unknown {
  if (source.trim() === '') throw new Failure(`${name} is empty.`, remedy, exitCodes.usage);
  try {
    return JSON.parse(source);
  } catch (error) {
    throw new Failure(`${name} is not JSON: ${(error as Error).message}.`, remedy, exitCodes.usage);
  }
}

function howOf(example: string): string {
  return `Write it as '${example}', @file, or - for what is piped in.`;
}
