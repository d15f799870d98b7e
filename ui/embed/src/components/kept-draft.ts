import { useEffect } from 'react';
import type { ConfigContent, Installation } from '@svc/client';

/** What is edited, and what the edits were made on. */
export interface Local {
  base: Installation | undefined;
  content: ConfigContent;
  /** Objects that nobody could decide about, where this was kept. */
  undecided?: readonly string[];
}
interface Kept {
  base?: Pick<Installation, 'id' | 'config'>;
  content: ConfigContent;
  undecided?: readonly string[];
}

const keyOf = (whose: string): string => `svc-draft ${whose}`;
const keepers = new Set<() => void>();

/** This tab leaves for a provider: what is on its pages and not saved is kept in it until it is back. */
function keepDrafts(): void {
  for (const keep of keepers) keep();
}

/** The same as they are now and once the page is gone: until then something can be entered. */
export function keepUntilGone(): void {
  keepDrafts();
  addEventListener('pagehide', keepDrafts, { once: true });
}

/** Keeps a draft when the page is left. Once it is shown again, edited, saved or discarded, what was kept is over. */
export function useKeeping(
  whose: string,
  local: Local | undefined,
  undecided: { readonly current: readonly string[] | undefined },
): void {
  useEffect(() => {
    forget(whose);
    if (!local) return undefined;
    const keep = (): void => remember(whose, local, undecided.current ?? []);
    keepers.add(keep);
    return () => void keepers.delete(keep);
  }, [whose, local]);
}

export const hasKept = (whose: string): boolean => read(whose) !== null;

/** What was kept of this integration, group and person, if it still is what a config looks like. */
export function keptDraft(
  whose: string,
  provider: string,
  installation: Installation | undefined,
): Local | undefined {
  const kept = keptIn(read(whose), provider);
  if (!kept) return undefined;
  const isOfIt = installation !== undefined && kept.base?.id === installation.id;
  const base = isOfIt && kept.base ? { ...installation, config: kept.base.config } : undefined;
  return { base, content: kept.content, undecided: kept.undecided ?? [] };
}

/** A storage can be switched off, or full: then nothing is kept. */
function read(whose: string): string | null {
  try {
    return sessionStorage.getItem(keyOf(whose));
  } catch {
    return null;
  }
}

function remember(whose: string, { base, content }: Local, undecided: readonly string[]): void {
  const kept: Kept = { content, undecided, ...(base ? { base: { id: base.id, config: base.config } } : {}) };
  try {
    sessionStorage.setItem(keyOf(whose), JSON.stringify(kept));
  } catch {
    // The page comes back without it.
  }
}

function forget(whose: string): void {
  try {
    sessionStorage.removeItem(keyOf(whose));
  } catch {
    // Nothing was kept.
  }
}

/** Anybody with this page open can write into the storage: what has another shape is dropped. */
export function keptIn(text: string | null, provider: string): Kept | undefined {
  try {
    const { content, base, undecided } = JSON.parse(text ?? 'null') as Partial<Kept>;
    const isWhole =
      isContent(content, provider) &&
      (undecided === undefined || listOf(isText)(undecided)) &&
      (base === undefined ||
        (isText(base.id) && isText(base.config.id) && isContent(base.config.content, provider)));
    return isWhole ? { content, ...(undecided ? { undecided } : {}), ...(base ? { base } : {}) } : undefined;
  } catch {
    return undefined;
  }
}

type Check = (value: unknown) => boolean;
const isText: Check = (value) => typeof value === 'string';
const isFlag: Check = (value) => typeof value === 'boolean';
const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const mapOf =
  (check: Check): Check =>
  (value) =>
    isRecord(value) && Object.values(value).every(check);
const listOf =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(check);
/** Of the members that are there; `needed` are. */
const shapeOf =
  (members: Readonly<Record<string, Check>>, ...needed: string[]): Check =>
  (value) =>
    isRecord(value) &&
    needed.every((name) => Object.hasOwn(value, name)) &&
    Object.entries(members).every(([name, check]) => !Object.hasOwn(value, name) || check(value[name]));

const objectsOf = (members: Readonly<Record<string, Check>>): Check =>
  shapeOf({ objects: mapOf(shapeOf({ objectName: isText, ...members }, 'objectName')) });
const isShaped = shapeOf({
  read: objectsOf({
    disabled: isFlag,
    selectedFields: mapOf(isFlag),
    selectedFieldMappings: mapOf(isText),
    selectedValueMappings: mapOf(mapOf(isText)),
    selectedFieldsAuto: isText,
    dynamicMappingsInput: listOf(isRecord),
    fieldFilters: listOf(shapeOf({ fieldName: isText, operator: isText }, 'fieldName', 'operator')),
    backfill: isRecord,
  }),
  write: objectsOf({
    deletionSettings: shapeOf({ enabled: isFlag }),
    selectedFieldSettings: mapOf(isRecord),
  }),
  proxy: shapeOf({ enabled: isFlag }),
});

function isContent(value: unknown, provider: string): value is ConfigContent {
  return isRecord(value) && value['provider'] === provider && isShaped(value);
}
