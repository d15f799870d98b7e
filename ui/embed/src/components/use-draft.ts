import { useCallback, useEffect, useMemo, useState } from 'react';
import type { ConfigContent, Connection, HydratedRevision, Installation } from '@svc/client';
import { useSvc } from '../hooks/provider.tsx';
import { applyEdit, type Edit } from '../state/draft.ts';
import { firstDraft, type OfferedMappings } from '../state/questions.ts';
import { differences, issuesOf } from '../state/save.ts';
import { isOn, type Step } from '../state/wizard.ts';
import { nothingTold, useSending, type Meeting, type Sent, type Told } from './use-sending.ts';

export interface DraftState extends Told {
  draft: ConfigContent;
  isChanged: boolean;
  isSaving: boolean;
  edit: (edit: Edit) => void;
  change: (change: (draft: ConfigContent) => ConfigContent) => void;
  discard: () => void;
  /** Whether nothing is wrong on a page of the form; what is, is shown. */
  check: (step: Step) => boolean;
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
  const send = useSending(revision, offered);
  const first = useMemo(() => firstDraft(revision, offered), [revision, offered]);
  const draft = local?.content ?? installation?.config.content ?? first;
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
  const [isSaving, save] = useSaving(send, (sent, content) => {
    setTold(sent);
    if (sent.saved || isElsewhere(sent.meeting))
      // What was entered stays, for an installation that is another one now, or that is to be made again.
      setLocal(sent.saved ? undefined : { base: undefined, content });
  });
  useElsewhere(installation, isSaving ? undefined : local, (theirs, objects) => {
    if (objects.length === 0) setLocal(undefined);
    else setTold({ ...nothingTold, meeting: { kind: 'conflict', objects, theirs, isNew: true } });
  });
  const discard = (): void => {
    setLocal(undefined);
    setTold(nothingTold);
  };
  const check = (step: Step): boolean => {
    const issues = issuesOf(draft, revision, offered).filter(({ at }) => isOn(step, at));
    setTold({ ...nothingTold, issues });
    return issues.length === 0;
  };
  const decide = async (whose: 'mine' | 'theirs'): Promise<Installation | undefined> => {
    if (told.meeting.kind !== 'conflict') return undefined;
    if (whose === 'mine') return save(told.meeting.theirs, draft);
    store.set('installation', told.meeting.theirs);
    discard();
    return undefined;
  };
  return {
    draft,
    isChanged: local !== undefined,
    isSaving,
    ...told,
    change,
    edit: (edit) => change((content) => applyEdit(content, edit)),
    discard,
    check,
    save: () => save(local && installation ? local.base : installation, draft),
    decide,
  };
}

type Send = ReturnType<typeof useSending>;

/** Sends, and tells what came of it. */
function useSaving(
  send: Send,
  told: (sent: Sent, content: ConfigContent) => void,
): [boolean, (base: Installation | undefined, content: ConfigContent) => Promise<Installation | undefined>] {
  const [isSaving, setSaving] = useState(false);
  const save = async (base: Installation | undefined, content: ConfigContent) => {
    setSaving(true);
    const sent = await send(base, content);
    setSaving(false);
    told(sent, content);
    return sent.saved;
  };
  return [isSaving, save];
}

const isElsewhere = (meeting: Meeting): boolean =>
  meeting.kind === 'uninstalled' || (meeting.kind === 'conflict' && meeting.isNew);

/** Somebody else installed while this page was filled in: what was entered is kept until it is said whose holds. */
function useElsewhere(
  theirs: Installation | undefined,
  mine: Local | undefined,
  told: (theirs: Installation, objects: string[]) => void,
): void {
  useEffect(() => {
    if (theirs && mine && !mine.base) told(theirs, differences(mine.content, theirs.config.content));
  }, [theirs?.id]);
}

/** What was told of an account that is connected again does not hold any more. */
function useTold(connection: Connection | undefined): [Told, (told: Told) => void] {
  const [told, setTold] = useState<Told>(nothingTold);
  const mark = `${connection?.id} ${connection?.status}`;
  useEffect(() => setTold(nothingTold), [mark]);
  return [told, setTold];
}
