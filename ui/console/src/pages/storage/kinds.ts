import type { HistoryKind } from '@svc/client';

/** What is kept, as people say it. */
export const kinds: Record<HistoryKind, readonly [title: string, about: string]> = {
  operations: ['Operations', 'Writes and reads, their records and logs.'],
  exchanges: ['Requests and answers', 'What was sent to providers, and what they answered.'],
  messages: ['Messages', 'What was delivered, or is to be, with its attempts.'],
  events: ['Events', 'What happened to connections, installations and destinations.'],
  proxyLogs: ['Proxy log', 'Calls through the proxy.'],
  readLinks: ['Associations', 'Which records were associated with which, as they were read.'],
  connectLinks: ['Connect links', 'With which customers connect.'],
  customers: ['Customers', 'Names of groups and people without a connection.'],
  auditLog: ['Audit log', 'Who changed what.'],
};

const units = ['bytes', 'KB', 'MB', 'GB', 'TB'];

/** As `3.2 MB`. */
export function bytesOf(bytes: number): string {
  const step = bytes < 1 ? 0 : Math.min(Math.floor(Math.log10(bytes) / 3), units.length - 1);
  const shown = bytes / 1000 ** step;
  return `${step === 0 ? shown : shown.toPrecision(3)} ${units[step]}`;
}
