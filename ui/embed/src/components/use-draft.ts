import { useCallback, useEffect, useMemo, useState } from 'react';
import { SvcError, type ConfigContent, type HydratedRevision, type Installation } from '@svc/client';
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
  /** Of a conflict. */
  decide: (whose: 'mine' | 'theirs') => Promise<void>;
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
): DraftState {
  const { store } = useSvc();
  const [local, setLocal] = useState<Local>();
  const [told, setTold] = useState<Told>(nothingTold);
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
    const sent = await send(base, content).catch((cause: unknown): Sent => ({
      ...nothingTold,
      error: cause as Error,
    }));
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
      if (told.meeting.kind !== 'conflict') return;
      const { theirs } = told.meeting;
      if (whose === 'theirs') {
        store.set('installation', theirs);
        discard();
      } else await save(theirs, draft);
    },
  };
}

/** What the last attempt to save came to. */
type Told = Pick<DraftState, 'issues' | 'error' | 'meeting' | 'isSaved'>;
type Sent = Told & { saved?: Installation };
const nothingTold: Told = { issues: [], error: undefined, meeting: { kind: 'none' }, isSaved: false };

/** Sends a draft; where somebody else saved meanwhile, on what they left. */
function useSending(
  revision: HydratedRevision,
  offered: OfferedMappings,
): (base: Installation | undefined, content: ConfigContent) => Promise<Sent> {
  const { svc, integration } = useSvc();
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
  return send;
}
