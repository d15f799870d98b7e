import { useCallback, useEffect, useMemo, useState } from 'react';
import {
  SvcError,
  type ConfigContent,
  type Connection,
  type HydratedRevision,
  type Installation,
} from '@svc/client';
import { useCreateInstallation, useUpdateInstallation } from '../hooks/mutations.ts';
import { useSvc } from '../hooks/provider.tsx';
import { applyEdit, type Edit } from '../state/draft.ts';
import { firstDraft, type OfferedMappings } from '../state/questions.ts';
import { issuesAt, mergeDrafts, planSave, type FormIssue } from '../state/save.ts';

/** What came of other people's changes. */
export type Meeting =
  | { kind: 'none' }
  | { kind: 'merged' }
  | { kind: 'conflict'; objects: string[]; theirs: Installation };

export interface DraftState {
  draft: ConfigContent;
  isChanged: boolean;
  isSaving: boolean;
  isSaved: boolean;
  issues: readonly FormIssue[];
  error: Error | undefined;
  meeting: Meeting;
  edit: (edit: Edit) => void;
  change: (change: (draft: ConfigContent) => ConfigContent) => void;
  discard: () => void;
  /** The installation when everything was saved; otherwise nothing was, and `issues`, `error` or `meeting` say why. */
  save: () => Promise<Installation | undefined>;
  /** Of a conflict: mine is saved, theirs is taken over. */
  decide: (whose: 'mine' | 'theirs') => Promise<Installation | undefined>;
}

interface Local {
  /** What the edits were made on. */
  base: Installation | undefined;
  content: ConfigContent;
}

/** A config that is edited here, and saved whole or not at all. */
export function useDraft(
  revision: HydratedRevision,
  installation: Installation | undefined,
  offered: OfferedMappings = {},
  connection?: Connection,
): DraftState {
  const { store } = useSvc();
  const [local, setLocal] = useState<Local>();
  const [told, setTold] = useTold(connection);
  const [isSaving, setSaving] = useState(false);
  const send = useSending(revision, offered);
  const first = useMemo(() => firstDraft(revision, offered), [revision, offered]);
  const draft = local?.content ?? installation?.config.content ?? first;
  useEffect(
    () => setLocal((now) => (now?.base === undefined && installation ? undefined : now)),
    [installation?.id],
  );

  const change = useCallback(
    (by: (draft: ConfigContent) => ConfigContent) => {
      setLocal((now) => ({
        base: now ? now.base : installation,
        content: by(now?.content ?? installation?.config.content ?? first),
      }));
      setTold(nothingTold);
    },
    [installation, first],
  );
  const save = async (base: Installation | undefined, content: ConfigContent) => {
    setSaving(true);
    const sent = await send(base, content);
    setSaving(false);
    setTold(sent);
    if (sent.saved) setLocal(undefined);
    return sent.saved;
  };
  const discard = (): void => {
    setLocal(undefined);
    setTold(nothingTold);
  };
  return {
    draft,
    isChanged: local !== undefined,
    isSaving,
    ...told,
    change,
    edit: (edit) => change((content) => applyEdit(content, edit)),
    discard,
    save: () => save(local ? local.base : installation, draft),
    decide: async (whose) => {
      if (told.meeting.kind !== 'conflict') return undefined;
      const { theirs } = told.meeting;
      if (whose === 'theirs') {
        store.set('installation', theirs);
        discard();
        return undefined;
      }
      return save(theirs, draft);
    },
  };
}

/** What the last attempt to save came to. */
type Told = Pick<DraftState, 'issues' | 'error' | 'meeting' | 'isSaved'>;
type Sent = Told & { saved?: Installation };
const nothingTold: Told = { issues: [], error: undefined, meeting: { kind: 'none' }, isSaved: false };

/** What was told of an account that is connected again does not hold any more. */
function useTold(connection: Connection | undefined): [Told, (told: Told) => void] {
  const [told, setTold] = useState<Told>(nothingTold);
  const mark = `${connection?.id} ${connection?.status}`;
  useEffect(() => setTold(nothingTold), [mark]);
  return [told, setTold];
}

/** Sends a draft; where somebody else saved meanwhile, on what they left. */
function useSending(
  revision: HydratedRevision,
  offered: OfferedMappings,
): (base: Installation | undefined, content: ConfigContent) => Promise<Sent> {
  const { svc, store, integration } = useSvc();
  const { createInstallation } = useCreateInstallation();
  const { updateInstallation } = useUpdateInstallation();

  async function send(base: Installation | undefined, content: ConfigContent): Promise<Sent> {
    const plan = planSave(content, base?.config.content, revision, offered);
    if (plan.kind === 'refusal') return { ...nothingTold, issues: plan.issues };
    if (plan.kind === 'nothing') return { ...nothingTold, ...(base ? { saved: base } : {}) };
    let failure: Error | undefined;
    const onError = (cause: Error): void => {
      failure = cause;
    };
    const saved = base
      ? await updateInstallation({ config: content, base, onError })
      : await createInstallation({ config: content, onError });
    if (saved) return { ...nothingTold, saved, isSaved: base !== undefined };
    if (base && failure instanceof SvcError && failure.code === 'config-changed') return meet(base, content);
    const said = failure instanceof SvcError ? issuesAt(failure.issues ?? []) : [];
    const issues = said.filter(({ at }) => at !== 'form');
    return { ...nothingTold, issues, error: issues.length === 0 ? failure : undefined };
  }

  async function meet(base: Installation, mine: ConfigContent): Promise<Sent> {
    const theirs = await svc.installations.get({ integration, installationId: base.id });
    const merge = mergeDrafts(base.config.content, mine, theirs.config.content);
    if (merge.kind === 'conflict')
      return { ...nothingTold, meeting: { kind: 'conflict', objects: merge.objects, theirs } };
    const sent = await send(theirs, merge.content);
    return sent.saved ? { ...sent, meeting: { kind: 'merged' } } : sent;
  }
  return async (base, content) => {
    const sent = await send(base, content).catch((cause: unknown): Sent => ({
      ...nothingTold,
      error: cause as Error,
    }));
    // What keeps it from being saved may be that something else changed: the form then shows it.
    if (sent.error || sent.issues.length > 0)
      for (const key of ['integration', 'connection']) void store.refresh(key);
    return sent;
  };
}
