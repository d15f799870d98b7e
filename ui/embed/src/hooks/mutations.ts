import { useCallback, useState } from 'react';
import { SvcError, type ConfigContent, type Installation } from '@svc/client';
import { masksOf, updateOf } from '../state/save.ts';
import { useSvc, useWhose } from './provider.tsx';

interface Ended<Value> {
  onSuccess?: (value: Value) => void;
  onError?: (error: Error) => void;
  onSettled?: () => void;
}

export interface Mutation {
  isIdle: boolean;
  isPending: boolean;
  isSuccess: boolean;
  error: Error | undefined;
  errorMsg: string | undefined;
}

interface State {
  whose: string;
  phase: 'idle' | 'pending' | 'success' | 'error';
  error?: Error;
}

function useMutation<Given, Value>(
  work: (given: Given) => Promise<Value>,
): [(given: Given & Ended<Value>) => Promise<Value | undefined>, Mutation] {
  const whose = useWhose();
  const [last, setState] = useState<State>({ whose, phase: 'idle' });
  // How it ended for one customer says nothing to another.
  const state: State = last.whose === whose ? last : { whose, phase: 'idle' };
  const run = useCallback(
    async (given: Given & Ended<Value>) => {
      setState({ whose, phase: 'pending' });
      try {
        const value = await work(given);
        setState({ whose, phase: 'success' });
        given.onSuccess?.(value);
        return value;
      } catch (cause) {
        const error = cause as Error;
        setState({ whose, phase: 'error', error });
        given.onError?.(error);
        return undefined;
      } finally {
        given.onSettled?.();
      }
    },
    [work, whose],
  );
  const { phase, error } = state;
  return [
    run,
    {
      isIdle: phase === 'idle',
      isPending: phase === 'pending',
      isSuccess: phase === 'success',
      error,
      errorMsg: error?.message,
    },
  ];
}

/** `createInstallation({config})` installs with this content; the provider is filled in by svc's integration. */
export function useCreateInstallation(): Mutation & {
  createInstallation: (
    given: { config: ConfigContent } & Ended<Installation>,
  ) => Promise<Installation | undefined>;
} {
  const { svc, store, integration, groupRef, consumerRef } = useSvc();
  const work = useCallback(
    async ({ config }: { config: ConfigContent }) => {
      const made = await svc.installations.create({
        integration,
        groupRef,
        config: { content: config, createdBy: `consumer:${consumerRef}` },
      });
      store.set('installation', made);
      return made;
    },
    [svc, store, integration, groupRef, consumerRef],
  );
  const [createInstallation, state] = useMutation(work);
  return { createInstallation, ...state };
}

/**
 * `updateInstallation({config})` changes what differs from the config that was loaded, or from `base`; answered by the error
 * `config-changed` when somebody else changed it before.
 */
export function useUpdateInstallation(): Mutation & {
  updateInstallation: (
    given: { config: ConfigContent; base?: Installation } & Ended<Installation>,
  ) => Promise<Installation | undefined>;
} {
  const { svc, store, integration, consumerRef } = useSvc();
  const work = useCallback(
    async ({ config, base }: { config: ConfigContent; base?: Installation }) => {
      const installation = base ?? (store.read('installation').data as Installation | null | undefined);
      if (!installation)
        throw new SvcError({ code: 'installation-not-found', status: 404, detail: 'Nothing is installed.' });
      const masks = masksOf(config, installation.config.content);
      if (masks.length === 0) return installation;
      const changed = await svc.installations.update({
        integration,
        installationId: installation.id,
        ifConfigId: installation.config.id,
        ...updateOf(config, masks, consumerRef),
      });
      store.set('installation', changed);
      return changed;
    },
    [svc, store, integration, consumerRef],
  );
  const [updateInstallation, state] = useMutation(work);
  return { updateInstallation, ...state };
}

export function useDeleteInstallation(): Mutation & {
  deleteInstallation: (given: { installation: Installation } & Ended<string>) => Promise<string | undefined>;
} {
  const { svc, store, integration } = useSvc();
  const work = useCallback(
    async ({ installation }: { installation: Installation }) => {
      await svc.installations.delete({ integration, installationId: installation.id });
      store.set('installation', null);
      // Its connection may have gone with it.
      await store.refresh('connection');
      return installation.id;
    },
    [svc, store, integration],
  );
  const [deleteInstallation, state] = useMutation(work);
  return { deleteInstallation, ...state };
}
