import { pino, type Logger } from 'pino';

export type { Logger } from 'pino';

/** Names under which a secret may stand in something that is logged; their values never reach the output. */
const secretNames = [
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
];

/** A structured log on standard output, secrets redacted at the first three depths. */
export function createLog(level: string, destination?: { write(line: string): void }): Logger {
  const paths = secretNames.flatMap((name) => [`["${name}"]`, `*["${name}"]`, `*.*["${name}"]`]);
  return pino(
    {
      level,
      base: null,
      redact: { paths, censor: '[secret]' },
      serializers: { err: describeError, error: describeError },
      timestamp: pino.stdTimeFunctions.isoTime,
    },
    ...(destination ? [destination] : []),
  );
}

/** An error without the values it may carry (SQL parameters, request bodies). Not `code`: that name is redacted, as OAuth codes are. */
function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  return {
    name: error.name,
    message: error.message,
    ...('code' in error ? { errorCode: error.code } : {}),
    stack: error.stack,
    ...(error.cause === undefined ? {} : { cause: describeError(error.cause) }),
  };
}
