import { useCallback, useState } from 'react';
import { SvcError, type ConfigContent, type Installation } from '@svc/client';
import { masksOf, updateOf } from '../state/save.ts';
import { rememberSaved, sentUpon } from './made-on.ts';
import { useSvc, useWhose } from './provider.tsx';
import { installationOf } from './queries.ts';
import { problemOf } from './store.ts';

interface Ended<Value> {
  onSuccess?: (value: Value) => void;
  onError?: (error: SvcError) => void;
  onSettled?: () => void;
}

export interface Mutation {
  isIdle: boolean;
  isPending: boolean;
  isSuccess: boolean;
  error: SvcError | undefined;
  errorMsg: string | undefined;
}

interface State {
  whose: string;
  phase: 'idle' | 'pending' | 'success' | 'error';
  error?: SvcError;
}

/** What the builder's own code throws is theirs, and changes nothing about how the work ended. */
function tell(listener: () => void): void {
  try {
    listener();
  } catch (error) {
    reportError(error);
  }
}

/** JavaScript lets it be left out: whoever builds the page reads what is missing. */
function given<Given extends object>(asked: Given, name: keyof Given & string, call: string): Given {
  if (((Object(asked) as Given)[name] ?? undefined) !== undefined) return asked;
  throw new SvcError({ code: 'invalid-request', status: 400, detail: `${call} needs {${name}}.` });
}

/** Work that a button begins, and how far it is. */
export function useMutation<Given, Value>(
  work: (given: Given) => Promise<Value>,
): [(given: Given & Ended<Value>) => Promise<Value | undefined>, Mutation] {
  const whose = useWhose();
  const [last, setState] = useState<State>({ whose, phase: 'idle' });
  // How it ended for one customer says nothing to another.
  const state: State = last.whose === whose ? last : { whose, phase: 'idle' };
  const run = useCallback(
    async (asked: Given & Ended<Value>) => {
      setState({ whose, phase: 'pending' });
      const on = Object(asked) as Ended<Value>;
      const ended = await work(asked).then(
        (value) => ({ value }),
        (cause: unknown) => ({ error: problemOf(cause) }),
      );
      if ('error' in ended) {
        setState({ whose, phase: 'error', error: ended.error });
        tell(() => on.onError?.(ended.error));
      } else {
        setState({ whose, phase: 'success' });
        tell(() => on.onSuccess?.(ended.value));
      }
      tell(() => on.onSettled?.());
      return 'value' in ended ? ended.value : undefined;
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

/** `createInstallation({config})` installs on the newest connection that works, or on that of `connectionId`. */
export function useCreateInstallation(): Mutation & {
  createInstallation: (
    given: { config: ConfigContent; connectionId?: string | undefined } & Ended<Installation>,
  ) => Promise<Installation | undefined>;
} {
  const { svc, store, integration, groupRef, consumerRef } = useSvc();
  const work = useCallback(
    async (asked: { config: ConfigContent; connectionId?: string | undefined }) => {
      const { config, connectionId } = given(asked, 'config', 'createInstallation');
      const made = await svc.installations.create({
        integration,
        groupRef,
        ...(connectionId === undefined ? {} : { connectionId }),
        config: { content: config, createdBy: `consumer:${consumerRef}` },
      });
      rememberSaved(config, made);
      store.set('installation', made);
      return made;
    },
    [svc, store, integration, groupRef, consumerRef],
  );
  const [createInstallation, state] = useMutation(work);
  return { createInstallation, ...state };
}

/**
 * `updateInstallation({config})` changes what differs from the config that the draft of `useConfig` was made on, or from `base`; answered by
 * the error `config-changed` when somebody else changed it before. Of a config that neither is known of, it is the one that is loaded, or on
 * its way.
 */
export function useUpdateInstallation(): Mutation & {
  updateInstallation: (
    given: { config: ConfigContent; base?: Installation } & Ended<Installation>,
  ) => Promise<Installation | undefined>;
} {
  const { svc, store, integration, groupRef, consumerRef } = useSvc();
  const work = useCallback(
    async (asked: { config: ConfigContent; base?: Installation }) => {
      const { config, base } = given(asked, 'config', 'updateInstallation');
      const load = () => installationOf({ svc, integration, groupRef });
      const installation = await sentUpon(config, base, async () => store.known('installation', load));
      if (installation === undefined) throw installedMeanwhile();
      if (!installation)
        throw new SvcError({ code: 'installation-not-found', status: 404, detail: 'Nothing is installed.' });
      const masks = masksOf(config, installation.config.content);
      if (masks.length === 0) {
        rememberSaved(config, installation);
        return installation;
      }
      const changed = await svc.installations.update({
        integration,
        installationId: installation.id,
        ifConfigId: installation.config.id,
        ...updateOf(config, masks, consumerRef),
      });
      rememberSaved(config, changed);
      store.set('installation', changed);
      return changed;
    },
    [svc, store, integration, groupRef, consumerRef],
  );
  const [updateInstallation, state] = useMutation(work);
  return { updateInstallation, ...state };
}

/** The draft was begun where nothing was installed, or before that was known: what is installed by now is not known to it. */
const installedMeanwhile = (): SvcError =>
  new SvcError({
    code: 'config-changed',
    status: 409,
    detail: 'It was installed, or loaded, after this was begun.',
  });

export function useDeleteInstallation(): Mutation & {
  deleteInstallation: (given: { installation: Installation } & Ended<string>) => Promise<string | undefined>;
} {
  const { svc, store, integration } = useSvc();
  const work = useCallback(
    async (asked: { installation: Installation }) => {
      const { installation } = given(asked, 'installation', 'deleteInstallation');
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
