import type { ConfigContent, HydratedRevision, Installation, SvcError } from '@svc/client';
import { useCreateInstallation, useUpdateInstallation } from '../hooks/mutations.ts';
import { useSvc } from '../hooks/provider.tsx';
import type { QueryStore } from '../hooks/store.ts';
import type { OfferedMappings } from '../state/questions.ts';
import { differences, issuesAt, mergeDrafts, planSave, type FormIssue } from '../state/save.ts';

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
): (base: Installation | undefined, content: ConfigContent) => Promise<Sent> {
  const { svc, store, integration, groupRef } = useSvc();
  const { createInstallation } = useCreateInstallation();
  const { updateInstallation } = useUpdateInstallation();

  async function send(
    base: Installation | undefined,
    content: ConfigContent,
    isAgain = false,
  ): Promise<Sent> {
    const plan = planSave(content, base?.config.content, revision, offered);
    if (plan.kind === 'refusal') return { ...nothingTold, issues: plan.issues };
    if (plan.kind === 'nothing') return { ...nothingTold, ...(base ? { saved: base } : {}) };
    let failure: SvcError | undefined;
    const onError = (cause: SvcError): void => {
      failure = cause;
    };
    const saved = base
      ? await updateInstallation({ config: content, base, onError })
      : await createInstallation({ config: content, connectionId, onError });
    if (saved) return { ...nothingTold, saved, isSaved: base !== undefined };
    const { code } = failure ?? {};
    if (base && code === 'config-changed') return meet(base, content);
    if (base && code === 'installation-not-found') return uninstalled(store);
    if (!base && code === 'already-exists' && !isAgain) return found(content);
    return refused(failure);
  }

  /** There is an installation already: the same is what was asked for, and its answer was lost. */
  async function found(mine: ConfigContent): Promise<Sent> {
    for await (const theirs of svc.installations.list({ integration, groupRef })) {
      const objects = differences(mine, theirs.config.content);
      store.set('installation', theirs);
      if (objects.length === 0) return { ...nothingTold, saved: theirs };
      return conflict(objects, theirs, true);
    }
    // It is gone by now.
    return send(undefined, mine, true);
  }

  async function meet(base: Installation, mine: ConfigContent): Promise<Sent> {
    const theirs = await svc.installations.get({ integration, installationId: base.id });
    const merge = mergeDrafts(base.config.content, mine, theirs.config.content);
    if (merge.kind === 'conflict') return conflict(merge.objects, theirs, false);
    const sent = await send(theirs, merge.content);
    if (!sent.saved) return sent;
    // Where both made the same change nothing was sent, and nobody knew yet what is there.
    store.set('installation', sent.saved);
    return { ...sent, meeting: { kind: 'merged' } };
  }
  return async (base, content) => {
    const sent = await send(base, content).catch((cause: unknown): Sent => ({
      ...nothingTold,
      error: cause as SvcError,
    }));
    // What keeps it from being saved may be that something else changed: the form then shows it.
    if (sent.error || sent.issues.length > 0)
      for (const key of ['integration', 'connection']) void store.refresh(key);
    return sent;
  };
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
