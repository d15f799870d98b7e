import { pino, type Logger } from 'pino';
import { isOutage } from './db/faults.ts';
import { LogOutput } from './log-output.ts';
import { Problem } from './problem.ts';

export type { Logger } from 'pino';

/** Names under which a secret may stand in something that is logged; their values never reach the output. */
const secretNames = new Set([
  'authorization',
  'Authorization',
  'cookie',
  'x-api-key',
  'X-Api-Key',
  'apiKey',
  'secret',
  'clientSecret',
  'client_secret',
  'password',
  'accessToken',
  'access_token',
  'refreshToken',
  'refresh_token',
  'token',
  'code',
  'code_verifier',
  'assertion',
  'publicKeyPem',
  'credentials',
  'DATABASE_URL',
]);

export type LogFormat = 'json' | 'text';

export interface LogOptions {
  /** Without it: lines to be read where a terminal shows them, JSON elsewhere. */
  format?: LogFormat | undefined;
  destination?: Destination;
}

type Destination = Pick<LogOutput, 'write'> & Partial<Pick<LogOutput, 'flush' | 'flushSync'>>;

/** A structured log on standard output, without secrets at its first three depths. */
export function createLog(level: string, { format, destination }: LogOptions = {}): Logger {
  const isText = destination ? format === 'text' : isTextLog(format);
  const output = destination ?? standardOutput();
  return pino(
    {
      level,
      base: null,
      formatters: { log: (line) => withoutSecrets(line, 3) },
      serializers: { err: describeError, error: describeError },
      timestamp: pino.stdTimeFunctions.isoTime,
      hooks: {
        logMethod(args, method, at) {
          if (at === warnLevel && isForWantOfDatabase(args[0])) this.debug(...args);
          else method.apply(this, args);
        },
      },
    },
    isText ? forReaders(output) : output,
  );
}

/** Whether the log is for readers: where it is told so, and on a terminal unless it is told otherwise. */
export function isTextLog(format: LogFormat | undefined): boolean {
  return format === undefined ? process.stdout.isTTY : format === 'text';
}

const warnLevel = 40;

/** An outage of the database is told once, as itself; what fails for it and is tried again is not worth a line each. */
function isForWantOfDatabase(about: unknown): boolean {
  const { err } = Object(about) as { err?: unknown };
  return err instanceof Problem && isOutage(err);
}

function standardOutput(): LogOutput {
  // Node lets a pipe refuse what nobody takes once it is asked for this. Else a writer waits in it, and the end of the process too.
  const output = new LogOutput(process.stdout.fd);
  process.on('exit', () => output.flushSync());
  return output;
}

/** The same output, of lines to be read. */
function forReaders(output: Destination): Destination {
  return {
    write: (line) => output.write(`${readable(line)}\n`),
    flush: (done) => (output.flush ? output.flush(done) : done()),
    flushSync: () => output.flushSync?.(),
  };
}

/** The same object unless something in it is hidden. Cheap: it runs for every line. */
function withoutSecrets(given: Record<string, unknown>, depth: number): Record<string, unknown> {
  let copy: Record<string, unknown> | undefined;
  for (const name in given) {
    const value = given[name];
    const shown = secretNames.has(name)
      ? '[secret]'
      : isPlain(value) && depth > 1
        ? withoutSecrets(value, depth - 1)
        : value;
    if (shown !== value) copy = { ...(copy ?? given), [name]: shown };
  }
  return copy ?? given;
}

function isPlain(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !(value instanceof Error);
}

const levels: Record<number, string> = {
  10: 'trace',
  20: 'debug',
  30: 'info',
  40: 'WARN',
  50: 'ERROR',
  60: 'FATAL',
};

/** A line of the log for a reader: time, level, message, then what belongs to it; the stack of an error below. */
export function readable(line: string): string {
  const { time, level, msg, err, ...others } = JSON.parse(line) as Record<string, unknown>;
  const { stack, message, cause } = Object(err) as Record<string, unknown>;
  const told = Object.entries({ ...others, ...(message === undefined ? {} : { error: message }) });
  const pairs = told.map(
    ([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  const causes = cause === undefined ? [] : [`    caused by ${JSON.stringify(cause)}`];
  const first = [String(time).slice(11, 23), levels[Number(level)]?.padEnd(5), msg, ...pairs].join('  ');
  return [first, ...(typeof stack === 'string' ? stack.split('\n').slice(1) : []), ...causes].join('\n');
}

/** Of causes below one another so many are told. */
const mostCauses = 5;

/**
 * An error without the values it may carry (SQL parameters, request bodies): a cause that is no error is such a value, as an answer
 * with tokens that a library refuses. Not `code`: that name is redacted, as OAuth codes are.
 */
function describeError(error: unknown): unknown {
  return error instanceof Error ? described(error, mostCauses) : error;
}

function described(error: Error, causes: number): Record<string, unknown> {
  return {
    name: error.name,
    message: error.message,
    ...('code' in error ? { errorCode: error.code } : {}),
    stack: error.stack,
    ...(error.cause instanceof Error && causes > 0 ? { cause: described(error.cause, causes - 1) } : {}),
  };
}
