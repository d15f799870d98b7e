import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import type { ConfigContent, Connection, HydratedRevision, Installation } from '@svc/client';
import { useSvc, useWhose } from '../hooks/provider.tsx';
import { applyEdit, type Edit } from '../state/draft.ts';
import { goneIn } from '../state/gone.ts';
import { pausedAfter, type Paused } from '../state/reading.ts';
import { firstDraft } from '../state/questions.ts';
import type { OfferedMappings } from '../state/offered.ts';
import { issuesLeft, revised, undecidedAfter, worded } from '../state/revised.ts';
import { decided, differences, issuesOf, masksOf, mergeDrafts } from '../state/save.ts';
import { isOn, type Step } from '../state/wizard.ts';
import { keptDraft, useKeeping, type Local } from './kept-draft.ts';
import { nothingTold, useSending, type Change, type Meeting, type Sent, type Told } from './use-sending.ts';

export interface DraftState extends Told {
  draft: ConfigContent;
  isChanged: boolean;
  isSaving: boolean;
  edit: (edit: Edit) => void;
  change: (by: Change['by']) => void;
  discard: () => void;
  /** Whether nothing is wrong on a page of the form; what is, is shown. */
  check: (step: Step) => boolean;
  /** The installation when everything was saved; otherwise nothing was, and `issues`, `error` or `meeting` say why. */
  save: () => Promise<Installation | undefined>;
  /** Saves one change of what is installed by itself; other edits wait as they are. */
  apply: (change: Change) => Promise<Installation | undefined>;
  /** What this page paused, and nobody changed since. */
  paused: readonly string[];
  /** What was sent last, again. */
  retry: () => Promise<Installation | undefined>;
  /** Of a conflict: mine is saved, theirs is taken over. */
  decide: (whose: 'mine' | 'theirs') => Promise<Installation | undefined>;
}

/** A config that is edited here, and saved whole or not at all. */
export function useDraft(
  revision: HydratedRevision,
  installation: Installation | undefined,
  offered: OfferedMappings = {},
  connection?: Connection,
): DraftState {
  const { store } = useSvc();
  const [local, setLocal] = useLocal(revision, installation, offered);
  const [told, setTold] = useTold(connection);
  const send = useSending(revision, offered, connection?.id);
  const first = useMemo(() => firstDraft(revision, offered), [revision, offered]);
  const draft = local?.content ?? installation?.config.content ?? first;
  const change = useChange(installation, first, setLocal, setTold);
  const { isSaving, paused, save, apply } = useSaving(send, installation, setLocal, setTold);
  const issues = useIssues(told.issues, { draft, revision, offered }, installation !== undefined);
  useElsewhere(installation, isSaving ? undefined : local, (theirs, objects) => {
    if (objects.length === 0) setLocal(undefined);
    else setTold({ ...nothingTold, meeting: { kind: 'conflict', objects, theirs, isNew: true } });
  });
  const hold = (next: Local | undefined): void => {
    setLocal(next);
    setTold(nothingTold);
  };
  const check = (step: Step): boolean => {
    const wrong = issuesOf(draft, revision, offered).filter(({ at }) => isOn(step, at));
    setTold({ ...nothingTold, issues: wrong });
    return wrong.length === 0;
  };
  const saveAll = () => save(local && installation ? local.base : installation, draft);
  const decide = async (holds: 'mine' | 'theirs'): Promise<Installation | undefined> => {
    if (told.meeting.kind !== 'conflict') return undefined;
    const { theirs } = told.meeting;
    const isMine = holds === 'mine';
    store.set('installation', theirs);
    if (told.alone) {
      // Other edits are not asked about.
      setTold(nothingTold);
      return isMine ? apply(told.alone, theirs) : undefined;
    }
    const content = decided(local?.base?.config.content, draft, theirs.config.content, holds);
    // It is answered, also where it meets somebody else's again.
    hold(differences(content, theirs.config.content).length > 0 ? { base: theirs, content } : undefined);
    return isMine ? save(theirs, content) : undefined;
  };
  return {
    draft,
    isChanged: local !== undefined,
    isSaving,
    ...told,
    issues,
    isSaved: told.isSaved && local === undefined,
    change,
    edit: (edit) => change((content) => applyEdit(content, edit)),
    discard: () => hold(undefined),
    check,
    save: saveAll,
    apply,
    paused,
    retry: () => (told.alone ? apply(told.alone) : saveAll()),
    decide,
  };
}

function useChange(
  installation: Installation | undefined,
  first: ConfigContent,
  setLocal: SetLocal,
  setTold: (told: Told) => void,
): (by: Change['by']) => void {
  return useCallback(
    (by) => {
      setLocal((now) => ({
        base: now ? now.base : installation,
        content: by(now?.content ?? installation?.config.content ?? first),
      }));
      setTold(nothingTold);
    },
    [installation, first],
  );
}

/** What is edited; also what was, before the page was left for the provider. */
function useLocal(
  revision: HydratedRevision,
  installation: Installation | undefined,
  offered: OfferedMappings,
) {
  const whose = useWhose();
  const state = useState<Local | undefined>(() => keptDraft(whose, revision.content.provider, installation));
  const undecided = useRevised(revision, offered, ...state);
  useKeeping(whose, state[0], undecided);
  return state;
}

/** What is entered and not installed goes along with the revision. */
function useRevised(
  revision: HydratedRevision,
  offered: OfferedMappings,
  local: Local | undefined,
  setLocal: SetLocal,
): { readonly current: readonly string[] | undefined } {
  const undecided = useRef(local?.undecided);
  const isNew = local !== undefined && local.base === undefined;
  useEffect(() => {
    const before = undecided.current ?? [];
    undecided.current = undecidedAfter(undecided.current, revision);
    if (!isNew) return;
    setLocal((now) => {
      if (!now || now.base) return now;
      const content = revised(now.content, revision, before, offered);
      return content === now.content ? now : { ...now, content };
    });
  }, [revision, isNew]);
  return undecided;
}

interface Shown {
  draft: ConfigContent;
  revision: HydratedRevision;
  offered: OfferedMappings;
}

/** What is wrong, as far as it is still there of what is not installed; an edit settles it, and a revision may say more of it. */
const useIssues = (
  issues: Told['issues'],
  { draft, revision, offered }: Shown,
  isInstalled: boolean,
): Told['issues'] =>
  useMemo(() => {
    const left = isInstalled ? issues : issuesLeft(issues, revision);
    return worded(left, issuesOf(draft, revision, offered).concat(goneIn(draft, revision, offered)));
  }, [issues, revision, isInstalled]);

type SetLocal = (next: (now: Local | undefined) => Local | undefined) => void;
type Send = ReturnType<typeof useSending>;

function useSaving(
  send: Send,
  installation: Installation | undefined,
  setLocal: SetLocal,
  setTold: (told: Told) => void,
) {
  const [isSaving, setSaving] = useState(false);
  const [paused, setPaused] = useState<Paused>();
  const run = async (base: Installation | undefined, content: ConfigContent, alone?: Change) => {
    setSaving(true);
    const sent = await send(base, { content, isAlone: alone !== undefined });
    setSaving(false);
    setTold(alone ? { ...sent, alone } : sent);
    const { saved, meeting } = sent;
    // What others changed with it nobody here has seen.
    const isOwn = meeting.kind === 'none';
    if (saved)
      setPaused((now) => (isOwn ? pausedAfter(now, base?.config, saved.config, alone?.pauses) : undefined));
    return sent;
  };
  const save = async (base: Installation | undefined, content: ConfigContent) => {
    const { saved, meeting } = await run(base, content);
    if (saved) setLocal((now) => unsaved(now, content, saved));
    // What was entered stays, for an installation that is another one now, or that is to be made again.
    else if (isElsewhere(meeting)) setLocal((now) => ({ base: undefined, content: now?.content ?? content }));
    return saved;
  };
  const apply = async (change: Change, upon = installation) => {
    if (!upon) return undefined;
    const sent = await run(upon, change.by(upon.config.content), change);
    setLocal((now) => after(sent, now, upon, change.by));
    return sent.saved;
  };
  const isInForce = paused !== undefined && paused.configId === installation?.config.id;
  return { isSaving, paused: isInForce ? paused.names : [], save, apply };
}

/** The other edits once a change of the installation was sent by itself. */
export function after(
  { saved, meeting }: Pick<Sent, 'saved' | 'meeting'>,
  local: Local | undefined,
  upon: Installation,
  by: Change['by'],
): Local | undefined {
  // It is installed again with it.
  if (isElsewhere(meeting)) return { base: undefined, content: by(local?.content ?? upon.config.content) };
  if (!saved || !local) return local;
  // Others' changes that came along are unknown to these edits.
  const isKnown = meeting.kind === 'none' && isSame(local.base, upon);
  const base = isKnown ? saved : local.base;
  const content = by(local.content);
  return base && masksOf(content, base.config.content).length === 0 ? undefined : { base, content };
}

/** What was edited while a draft was under way, upon what came of it. */
function editedSince(local: Local | undefined, sent: ConfigContent, now: ConfigContent): ConfigContent {
  const merge = local && mergeDrafts(sent, local.content, now, 'mine');
  return merge?.kind === 'merged' ? merge.content : now;
}

function unsaved(local: Local | undefined, sent: ConfigContent, saved: Installation): Local | undefined {
  const content = editedSince(local, sent, saved.config.content);
  return masksOf(content, saved.config.content).length === 0 ? undefined : { base: saved, content };
}

const isSame = (one: Installation | undefined, other: Installation): boolean =>
  one?.config.id === other.config.id;

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
