import type { DeployedChange, DeployPreview, SvcError } from '@svc/client';
import type { ReactNode } from 'react';
import { Badge, type Tone } from '../../ui/badge.tsx';
import { Impacts } from './impacts.tsx';

const words: Record<DeployedChange['change'], [string, Tone]> = {
  created: ['New', 'good'],
  updated: ['Changed', 'info'],
  unchanged: ['As it is', 'neutral'],
};

/** What a deploy would change, integration by integration. */
export function Plan({ plan }: { plan: DeployPreview }): ReactNode {
  const { integrations, untouched, warnings } = plan;
  return (
    <>
      <h2>What a deploy changes</h2>
      {integrations.map((change) => (
        <Change key={change.name} change={change} />
      ))}
      {untouched.length > 0 && <p className="muted">Not in the text, stays: {untouched.join(', ')}.</p>}
      {warnings.length > 0 && (
        <ul className="stack stack-tight">
          {warnings.map(({ line, path, message, suggestion }) => (
            <li key={`${path} ${message}`} className="fault">
              <Badge tone="warning">Line {line}</Badge>
              <span>
                {message}. <span className="muted">{suggestion}</span>
              </span>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

function Change({ change: shown }: { change: DeployedChange }): ReactNode {
  const { name, change, added, changed, removed } = shown;
  const [word, tone] = words[change];
  const parts = [
    ...added.map((part) => ['+', part, 'plus'] as const),
    ...changed.map((part) => ['~', part, 'changed'] as const),
    ...removed.map((part) => ['−', part, 'minus'] as const),
  ];
  return (
    <div>
      <p className="row">
        <span className="strong">{name}</span>
        <Badge tone={tone}>{word}</Badge>
      </p>
      <ul>
        {parts.map(([sign, part, look]) => (
          <li key={`${sign}${part}`} className={`part part-${look}`}>
            <code>
              {sign} {part}
            </code>
          </li>
        ))}
      </ul>
      <Impacts change={shown} />
    </div>
  );
}

/** What keeps the text from being deployed, in its order. */
export function Faults({ faults }: { faults: SvcError['issues'] }): ReactNode {
  return (
    <div role="alert" className="stack">
      <h2>{faults.length === 1 ? 'One fault' : `${faults.length} faults`}</h2>
      <ul className="stack stack-tight">
        {faults.map(({ name, detail, line, column }) => (
          <li key={`${name} ${detail}`} className="fault">
            <Badge tone="bad">{line === undefined ? 'Fault' : `Line ${line}`}</Badge>
            <span>
              {detail} <code className="muted">{name}</code>
              {column !== undefined && <span className="hidden">, column {column}</span>}
            </span>
          </li>
        ))}
      </ul>
    </div>
  );
}
