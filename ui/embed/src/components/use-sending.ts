import { useRef } from 'react';
import type { ConfigContent, HydratedRevision, Installation, SvcError } from '@svc/client';
import { useCreateInstallation, useUpdateInstallation } from '../hooks/mutations.ts';
import { useSvc } from '../hooks/provider.tsx';
import type { QueryStore } from '../hooks/store.ts';
import type { OfferedMappings } from '../state/offered.ts';
import {
  differences,
  issuesAt,
  mergeDrafts,
  planSave,
  uponOwn,
  type Attempt,
  type FormIssue,
  type Merge,
} from '../state/save.ts';

/** What came of other people's changes. */
export type Meeting =
  | { kind: 'none' }
  | { kind: 'merged' }
  /** `isNew`: they installed, and this page was about to. */
  | { kind: 'conflict'; objects: string[]; theirs: Installation; isNew: boolean }
  | { kind: 'uninstalled' };

/** Of what is installed, saved by itself. */
export interface Change {
  by: (config: ConfigContent) => ConfigContent;
  /** What it pauses; none where it resumes. */
  pauses?: readonly string[];
}

/** What the last attempt to save came to. */
export interface Told {
  /** It was this change alone. */
  alone?: Change;
  issues: readonly FormIssue[];
  error: SvcError | undefined;
  meeting: Meeting;
  isSaved: boolean;
}
export type Sent = Told & { saved?: Installation };
export const nothingTold: Told = { issues: [], error: undefined, meeting: { kind: 'none' }, isSaved: false };

/** Sends a draft; where somebody else saved meanwhile, on what they left. */
export function useSending(
  revision: HydratedRevision,
  offered: OfferedMappings,
  connectionId: string | undefined,
): (base: Installation | undefined, mine: Attempt) => Promise<Sent> {
  const { svc, store, integration, groupRef } = useSvc();
  const { createInstallation } = useCreateInstallation();
  const { updateInstallation } = useUpdateInstallation();
  // What svc may have taken although no answer came.
  const lost = useRef<Attempt[]>([]);

  async function send(base: Installation | undefined, mine: Attempt, isAgain = false): Promise<Sent> {
    const plan = planSave(mine.content, base?.config.content, revision, offered);
    if (plan.kind === 'refusal') return { ...nothingTold, issues: plan.issues };
    if (plan.kind === 'nothing') return { ...nothingTold, ...(base ? { saved: base } : {}) };
    let failure: SvcError | undefined;
    const given = { config: mine.content, onError: (cause: SvcError) => void (failure = cause) };
    const saved = await (base
      ? updateInstallation({ ...given, base })
      : createInstallation({ ...given, connectionId }));
    if (saved) {
      lost.current = [];
      return { ...nothingTold, saved, isSaved: base !== undefined };
    }
    const { code, status = 0 } = failure ?? {};
    if (status === 0 || status >= 500) lost.current.push(mine);
    if (base && code === 'config-changed') return meet(base, mine);
    if (base && code === 'installation-not-found') return uninstalled(store);
    if (!base && code === 'already-exists' && !isAgain) return found(mine);
    return refused(failure);
  }

  /** There is an installation already: the same is what was asked for, and its answer was lost. */
  async function found(mine: Attempt): Promise<Sent> {
    for await (const theirs of svc.installations.list({ integration, groupRef })) {
      const now = theirs.config.content;
      const objects = differences(mine.content, now);
      store.set('installation', theirs);
      // It was made by this page, and more was entered since.
      const own = uponOwn(now, mine, now, lost.current);
      if (own) return send(theirs, { ...mine, content: own });
      return objects.length === 0 ? { ...nothingTold, saved: theirs } : conflict(objects, theirs, true);
    }
    // It is gone by now.
    return send(undefined, mine, true);
  }

  async function meet(base: Installation, mine: Attempt): Promise<Sent> {
    const theirs = await svc.installations.get({ integration, installationId: base.id });
    const [before, now] = [base.config.content, theirs.config.content];
    const own = uponOwn(before, mine, now, lost.current);
    const merge: Merge = own ? { kind: 'merged', content: own } : mergeDrafts(before, mine.content, now);
    if (merge.kind === 'conflict') return conflict(merge.objects, theirs, false);
    const sent = await send(theirs, { ...mine, content: merge.content });
    if (!sent.saved) return sent;
    // Where both made the same change nothing was sent, and nobody knew yet what is there.
    store.set('installation', sent.saved);
    return own ? { ...sent, isSaved: true } : { ...sent, meeting: { kind: 'merged' } };
  }
  return async (base, mine) => {
    const sent = await send(base, mine).catch((cause: unknown): Sent => ({
      ...nothingTold,
      error: cause as SvcError,
    }));
    askAround(store, sent);
    return sent;
  };
}

/** What keeps it from being saved may be that something else changed, or that a field is gone: the form then shows it. */
function askAround(store: QueryStore, { error, issues }: Sent): void {
  if (!error && issues.length === 0) return;
  const isRefused = issues.some(({ text }) => typeof text !== 'string');
  for (const key of ['integration', 'connection', ...(isRefused ? ['revision'] : [])])
    void store.refresh(key);
}

/** What svc refuses is told at its field; what has none, above the form. */
function refused(failure: SvcError | undefined): Sent {
  const said = issuesAt(failure?.issues ?? []);
  const issues = said.filter(({ at }) => at !== 'form');
  return { ...nothingTold, issues, error: issues.length === 0 ? failure : undefined };
}

function conflict(objects: string[], theirs: Installation, isNew: boolean): Sent {
  return { ...nothingTold, meeting: { kind: 'conflict', objects, theirs, isNew } };
}

/** The connection may have gone along. */
async function uninstalled(store: QueryStore): Promise<Sent> {
  await Promise.all([store.refresh('installation'), store.refresh('connection')]);
  return { ...nothingTold, meeting: { kind: 'uninstalled' } };
}
