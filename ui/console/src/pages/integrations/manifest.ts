import type { Revision } from '@svc/client';
import { stringify } from 'yaml';

type Content = Revision['content'];

/** The manifest that holds these integrations, as `svc.yaml` is written. */
export const manifestOf = (contents: readonly Content[]): string =>
  stringify({ specVersion: '1.0.0', integrations: contents }, { lineWidth: 0 });

/** One integration, as it stands in `svc.yaml`. */
export const yamlOf = (content: Content): string => stringify(content, { lineWidth: 0 });

/** What an integration does, in words. */
export function doesOf({ read, write, subscribe, proxy, watchSchema }: Content): string[] {
  const counted = (verb: string, objects?: readonly unknown[]): string[] =>
    objects && objects.length > 0 ? [`${verb} ${objects.length}`] : [];
  return [
    ...counted('reads', read?.objects),
    ...counted('writes', write?.objects),
    ...counted('subscribes to', subscribe?.objects),
    ...(proxy?.enabled ? ['proxy'] : []),
    ...(watchSchema ? ['watches fields'] : []),
  ];
}
