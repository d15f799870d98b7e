import { nearest } from './kit/nearest.ts';

/** Tells the process that follows how many errors nobody caught; not for operators. */
export const carriedErrors = 'SVC_UNCAUGHT_ERRORS';

/** A mistyped name would have no effect otherwise. */
export function unknownNames(env: NodeJS.ProcessEnv, names: readonly string[]): string[] {
  const known = new Set(names.flatMap((name) => [name, `${name}_FILE`]));
  // Of the command line, which may run in the same shell, and of tests.
  const ofTheCommandLine = [
    'SVC_API_KEY',
    'SVC_API_URL',
    'SVC_PROJECT',
    'SVC_PROFILE',
    'SVC_PROXY_URL',
    'SVC_SIGNING_KEY',
  ];
  const others = new Set([...ofTheCommandLine, 'SVC_CRASH_AT', carriedErrors]);
  return Object.keys(env)
    .filter((name) => name.startsWith('SVC_') && !known.has(name) && !others.has(name))
    .map((name) => {
      const meant = nearest(name, [...known, ...ofTheCommandLine]);
      const hint = meant === undefined ? '' : `; did you mean ${meant}?`;
      return `${name} is not a known variable${hint} (see docs/configuration.md)`;
    });
}
