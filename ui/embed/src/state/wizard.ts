import type {
  ConfigContent,
  HydratedReadObject,
  HydratedRevision,
  HydratedWriteObject,
  ReadObjectConfig,
} from '@svc/client';
import { readConfigOf, writeConfigOf } from './draft.ts';
import type { FormIssue } from './save.ts';

/** A page of the form: `overview`, `objects`, `read/<object>`, `write` or `review`. */
export type Step = 'overview' | 'objects' | 'write' | 'review' | `read/${string}`;

/** The steps that a draft goes through, in order. */
export function stepsOf(draft: ConfigContent, revision: HydratedRevision, isInstalled: boolean): Step[] {
  const reads = (revision.content.read?.objects ?? [])
    .filter(({ objectName }) => {
      const config = readConfigOf(draft, objectName);
      return config && !config.disabled;
    })
    .map(({ objectName }): Step => `read/${objectName}`);
  const writes = limitable(draft, revision).length > 0;
  return [
    ...(isInstalled ? (['overview'] as const) : []),
    ...(objectsOf(revision).length > 0 ? (['objects'] as const) : []),
    ...reads,
    ...(writes ? (['write'] as const) : []),
    ...(isInstalled ? [] : (['review'] as const)),
  ];
}

/** What may be written, named by the config or not (docs/contract.md, Write), as far as limits can be set to it. */
export function limitable(draft: ConfigContent, { content }: HydratedRevision): HydratedWriteObject[] {
  return (content.write?.objects ?? []).filter(
    ({ objectName, error }) => error === undefined || writeConfigOf(draft, objectName) !== undefined,
  );
}

/** Days of what exists that are read at first: by the config, else as the manifest proposes, else none. */
export function historyOf(
  config: ReadObjectConfig | undefined,
  declared: HydratedReadObject | undefined,
): number | 'all' {
  const { days = 0, fullHistory } = (config?.backfill ?? declared?.backfill)?.defaultPeriod ?? {};
  return fullHistory ? 'all' : days;
}

/** Whether records are read that were there before the installation. */
export function readsHistory(content: ConfigContent, revision: HydratedRevision): boolean {
  return (revision.content.read?.objects ?? []).some((object) => {
    const config = readConfigOf(content, object.objectName);
    return (config ? !config.disabled : object.enabled) && historyOf(config, object) !== 0;
  });
}

/** One row of what may be shared. */
export interface SharedObject {
  objectName: string;
  displayName: string;
  canRead: boolean;
  canWrite: boolean;
  /** The manifest reads it for everybody. */
  isAlwaysRead: boolean;
  error: string | undefined;
}

export function objectsOf({ content }: HydratedRevision): SharedObject[] {
  const reads = content.read?.objects ?? [];
  const writes = content.write?.objects ?? [];
  const names = [...new Set([...reads, ...writes].map(({ objectName }) => objectName))];
  return names.map((objectName) => {
    const read = reads.find((one) => one.objectName === objectName);
    const write = writes.find((one) => one.objectName === objectName);
    return {
      objectName,
      displayName: read?.mapToDisplayName ?? read?.displayName ?? write?.displayName ?? objectName,
      canRead: read !== undefined,
      canWrite: write !== undefined,
      isAlwaysRead: read?.enabled === 'always',
      error: read?.error ?? write?.error,
    };
  });
}

/** What an object is called wherever it is shown. */
export function nameOf(revision: HydratedRevision, objectName: string): string {
  return objectsOf(revision).find((object) => object.objectName === objectName)?.displayName ?? objectName;
}

/** The step where the first issue is mended. */
export function stepWith(issues: readonly FormIssue[], steps: readonly Step[]): Step | undefined {
  return steps.find((step) => issues.some(({ at }) => isOn(step, at)));
}

export function isOn(step: Step, at: string): boolean {
  if (step === 'write') return at.startsWith('write/');
  return step.startsWith('read/') && (at === step || at.startsWith(`${step}/`));
}
