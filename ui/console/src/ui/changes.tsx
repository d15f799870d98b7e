import type { ReactNode } from 'react';
import { changesBetween, pathOf, type Change } from '../data/leaves.ts';

/** What is different between two documents, value by value. */
export function Changes(props: { before: unknown; after: unknown; empty?: string }): ReactNode {
  const changes = changesBetween(props.before, props.after);
  if (changes.length === 0) return <p className="muted">{props.empty ?? 'Nothing is different.'}</p>;
  return <ChangeList changes={changes} />;
}

export function ChangeList({ changes }: { changes: readonly Change[] }): ReactNode {
  return (
    <dl className="changes">
      {changes.map(({ key, before, after }) => (
        <div key={key}>
          <dt>{pathOf(key).join(' › ')}</dt>
          <dd>
            {before !== undefined && <del>{shown(before)}</del>}
            {after !== undefined && <ins>{shown(after)}</ins>}
          </dd>
        </div>
      ))}
    </dl>
  );
}

const shown = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));
