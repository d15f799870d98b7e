import { useCallback } from 'react';
import { SvcError, type Connection, type Frontend } from '@svc/client';
import { useMutation } from '../hooks/mutations.ts';
import { useSvc } from '../hooks/provider.tsx';

/**
 * After a sign-in: what is installed on credentials that do not work any more goes on with what was connected now, as where a colleague
 * had connected the account before. All that is shown of the account is asked for again.
 */
export function useRenewal(): ReturnType<
  typeof useMutation<{ connection: Connection; isNew: boolean }, void>
> {
  const { svc, store, integration, groupRef, consumerRef } = useSvc();
  const work = useCallback(
    async ({ connection, isNew }: { connection: Connection; isNew: boolean }) => {
      for await (const installation of svc.installations.list({ integration, groupRef })) {
        const before = installation.connection;
        const isOver = before === undefined || before.status === 'bad_credentials';
        const isOfIt = installation.config.content.provider === connection.provider;
        if (!isOver || !isOfIt || before?.id === connection.id) continue;
        if (isAnother(before, connection)) {
          // It is for nothing, and the next installation would be made on it.
          if (isNew) await dropUnused(svc, groupRef, connection.id).catch(() => undefined);
          void store.refresh('connection');
          throw otherAccount();
        }
        await svc.installations.update({
          integration,
          installationId: installation.id,
          updateMask: ['connectionId', 'config.createdBy'],
          installation: {
            connectionId: connection.id,
            config: { createdBy: `consumer:${consumerRef}` },
          },
        });
      }
      for (const key of ['connection', 'installation', 'revision']) void store.refresh(key);
    },
    [svc, store, integration, groupRef, consumerRef],
  );
  return useMutation(work);
}

/** Removes a connection, unless something is installed on it by now: of whichever integration, in whichever tab. */
export async function dropUnused(
  svc: Pick<Frontend, 'connections' | 'installations'>,
  groupRef: string,
  connectionId: string,
): Promise<void> {
  for await (const { connection } of svc.installations.list({ groupRef }))
    if (connection?.id === connectionId) return;
  await svc.connections.delete(connectionId);
}

/** What was set up for one account is not moved to another unasked. */
function isAnother(before: Connection | undefined, now: Connection): boolean {
  const [one, other] = [before?.providerWorkspaceRef, now.providerWorkspaceRef];
  return one !== undefined && other !== undefined && one !== other;
}

const otherAccount = (): SvcError =>
  new SvcError({ code: 'other-account', status: 409, detail: 'It is another account.' });
