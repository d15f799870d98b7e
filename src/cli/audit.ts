import type { AuditEntry, AuditFilter } from '../../ui/client/src/index.ts';
import { connect, type ConnectionOptions } from './connection.ts';
import { withNew } from './new-file.ts';
import { tell } from './output.ts';
import { pageSizeOf, sayList, type ListOptions } from './rows.ts';
import { unwritable } from './text-file.ts';

interface Span {
  from?: string;
  to?: string;
}

/** `svc audit list`: newest first. */
export async function listAudit(
  options: ListOptions & Span & { action?: NonNullable<AuditFilter['action']>; group?: string },
): Promise<void> {
  const { action, group, from, to } = options;
  const query = {
    ...(action === undefined ? {} : { action }),
    ...(group === undefined ? {} : { groupRef: group }),
    ...spanOf({ from, to }),
  };
  const list = (await connect(options)).audit.list({ ...query, ...pageSizeOf(options) });
  await sayList(options, list, {
    time: ({ time }) => time,
    what: ({ action: done }) => done,
    target: ({ target }) => target.id,
    who: whoOf,
    from: ({ address }) => address,
  });
}

/** `svc audit export`: the log as a file that is whole or not there, or on the output. */
export async function exportAudit(
  path: string | undefined,
  options: ConnectionOptions & Span & { format?: 'ndjson' | 'csv' },
): Promise<void> {
  const format = options.format ?? (path?.toLowerCase().endsWith('.csv') ? 'csv' : 'ndjson');
  const pieces = (await connect(options)).audit.export({ format, ...spanOf(options) });
  if (path === undefined || path === '-') {
    // An error of the output ends the process, whoever waits.
    for await (const piece of pieces)
      if (!process.stdout.write(piece)) await new Promise((room) => process.stdout.once('drain', room));
    return;
  }
  await withNew(path, async (handle) => {
    const write = async (work: () => Promise<unknown>): Promise<void> => {
      await work().catch((error: unknown) => {
        throw unwritable(path, error, 'Make room, or name another file.');
      });
    };
    for await (const piece of pieces) await write(() => handle.writeFile(piece));
    await write(() => handle.sync());
    await write(() => handle.close());
  });
  tell(`The audit log is in ${path}.`);
}

function spanOf({ from, to }: { from?: string | undefined; to?: string | undefined }): Span {
  return { ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) };
}

function whoOf({ actor }: AuditEntry): string {
  const { kind, email, keyId, consumerRef, groupRef } = actor;
  return [kind, email ?? keyId ?? consumerRef ?? groupRef].filter(Boolean).join(' ');
}
