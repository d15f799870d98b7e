import type { ConfigContent, HydratedRevision, Installation, ReadState } from '@svc/client';
import { applyEdit, readConfigOf, writeConfigOf } from './draft.ts';

/**
 * What is read by a config. Of an object that is not read, a config keeps no more than that: nobody can tell afterwards whether it was
 * paused or switched off.
 */

export const declaredIn = ({ content }: HydratedRevision, action: 'read' | 'write', name: string) =>
  (content[action]?.objects ?? []).find(({ objectName }) => objectName.toLowerCase() === name.toLowerCase());

const configured = (content: ConfigContent) => Object.values(content.read?.objects ?? {});

/** The objects that are read: those of the config, and those that the manifest reads for everybody. */
export function readIn(content: ConfigContent, revision: HydratedRevision): string[] {
  const always = readAlways(revision).filter((name) => !readConfigOf(content, name));
  const read = configured(content).filter(({ disabled }) => !disabled);
  return [...read.map(({ objectName }) => objectName), ...always];
}

/** What the manifest reads for everybody: without a field nothing is read, and no config takes it. */
export function readAlways({ content }: HydratedRevision): string[] {
  return (content.read?.objects ?? []).flatMap(({ objectName, enabled, requiredFields = [] }) =>
    enabled === 'always' && requiredFields.length > 0 ? [objectName] : [],
  );
}

/** Those of them that a config can switch off: not one that it does not name while a mapping is asked for. */
export function pausableIn(content: ConfigContent, revision: HydratedRevision): string[] {
  return readIn(content, revision).filter((name) => {
    const declared = revision.content.read?.objects.find(({ objectName }) => objectName === name);
    const isAsked = declared?.requiredFields?.some(({ fieldName }) => fieldName === undefined);
    return readConfigOf(content, name) !== undefined || !isAsked;
  });
}

/** The objects of the config that are not read: paused, or switched off. */
export function heldIn(content: ConfigContent): string[] {
  return configured(content).flatMap(({ objectName, disabled }) => (disabled ? [objectName] : []));
}

/** The config with these objects read, or not. */
export function withReads(content: ConfigContent, names: readonly string[], enabled: boolean): ConfigContent {
  return names.reduce(
    (now, object) => applyEdit(now, { on: 'read', object, set: { kind: 'enabled', enabled } }),
    content,
  );
}

/** An object that the manifest no longer has, and that the installation goes on with (docs/guides/connect.md). */
export interface Left {
  objectName: string;
  isRead: boolean;
  isWritten: boolean;
}

export function leftIn(content: ConfigContent, revision: HydratedRevision): Left[] {
  const written = Object.values(content.write?.objects ?? {});
  const names = [...configured(content), ...written].map(({ objectName }) => objectName);
  return [...new Map(names.map((name) => [name.toLowerCase(), name])).values()]
    .map((objectName): Left => {
      const read = readConfigOf(content, objectName);
      const isGone = (action: 'read' | 'write') => !declaredIn(revision, action, objectName);
      return {
        objectName,
        isRead: read !== undefined && !read.disabled && isGone('read'),
        isWritten: writeConfigOf(content, objectName) !== undefined && isGone('write'),
      };
    })
    .filter(({ isRead, isWritten }) => isRead || isWritten);
}

/**
 * Whether such an object is read: a deploy may have taken it from those who have it, too. `unknown` while svc did not say, and while it is
 * held back by the builder.
 */
export function readingOf(
  objectName: string,
  states: readonly ReadState[] = [],
): 'read' | 'ended' | 'unknown' {
  const state = states.find((one) => one.objectName.toLowerCase() === objectName.toLowerCase());
  if (state?.status === 'removed') return 'ended';
  return state === undefined || state.paused ? 'unknown' : 'read';
}

/** What this page paused, as long as the config in force is one that it made. */
export interface Paused {
  configId: string;
  names: readonly string[];
}
type Config = Installation['config'];

/** What this page paused once it saved upon `base`: by `names`, where it paused or resumed, and otherwise what it had paused of what is still held. */
export function pausedAfter(
  before: Paused | undefined,
  base: Config | undefined,
  saved: Config,
  names?: readonly string[],
): Paused | undefined {
  if (names) return { configId: saved.id, names };
  if (!before || before.configId !== base?.id) return undefined;
  const held = heldIn(saved.content);
  return { configId: saved.id, names: before.names.filter((name) => held.includes(name)) };
}
