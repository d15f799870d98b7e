import { createLog, isTextLog } from './kit/log.ts';

/** What a process tells its operator beside the log: on standard error, as the log is written: sentences, or lines of JSON. */
export type Say = (sentence: string, how?: Telling) => void;

interface Telling {
  level?: 'info' | 'warn' | 'fatal';
  /** What belongs to the sentence, by name. */
  about?: Record<string, string>;
}

/** `format` is that of `SVC_LOG_FORMAT`, also where the rest of the configuration cannot be read. */
export function createSay(format: string | undefined): Say {
  if (isTextLog(format === 'text' || format === 'json' ? format : undefined))
    return (sentence, { about = {} } = {}) => {
      const lines = Object.entries(about).map(([name, value]) => `  ${name.padEnd(10)}  ${value}`);
      process.stderr.write(`${[sentence, ...lines].join('\n')}\n`);
    };
  const log = createLog('info', { format: 'json', destination: process.stderr });
  return (sentence, { level = 'info', about = {} } = {}) => log[level](about, sentence);
}
