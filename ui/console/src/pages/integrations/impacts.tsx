import { Link } from '@tanstack/react-router';
import type { DeployedChange, DeployImpact } from '@svc/client';
import type { ReactNode } from 'react';
import { useProject } from '../../data/project.ts';
import { Badge, type Tone } from '../../ui/badge.tsx';

const words: Record<DeployImpact['kind'], [said: (what: string) => string, Tone]> = {
  stopsReading: [(what) => `Reads of ${what} pause`, 'bad'],
  stopsWriting: [(what) => `Writes of ${what} are refused`, 'bad'],
  renamesObject: [(what) => `${what} is delivered under another name`, 'warning'],
  losesField: [(what) => `${what} is not delivered any more`, 'bad'],
  losesSchedule: [(what) => `${what} is no longer read by a schedule`, 'bad'],
  losesMapping: [(what) => `Writes of ${what} no longer take mapped names`, 'bad'],
  losesProxy: [() => 'Calls through the proxy are refused', 'bad'],
  needsMapping: [(what) => `${what} is empty until the customer maps a field to it`, 'warning'],
  lacksScope: [(what) => `The scope ${what} was not granted`, 'warning'],
  keepsReading: [(what) => `Reads of ${what} go on as they were`, 'neutral'],
  keepsWriting: [(what) => `Writes of ${what} go on as they were`, 'neutral'],
  startsReading: [(what) => `${what} is read from now on`, 'info'],
};

const whatOf = ({ object, field, scope }: DeployImpact): string =>
  scope ?? [object, field].filter(Boolean).join('.');

/** What a deploy means to the customers who have the integration installed. */
export function Impacts({ change }: { change: DeployedChange }): ReactNode {
  const { name, installations, impacts, leftOut = 0 } = change;
  if (change.change !== 'updated' || installations === 0) return null;
  return (
    <section aria-label={`What it means to installations of ${name}`} className="stack stack-tight">
      <p className="muted">
        {impacts.length === 0
          ? `Of ${installations.toLocaleString()} installed, none was found to lose or lack anything.`
          : `Of ${installations.toLocaleString()} installed:`}
      </p>
      <ul className="stack stack-tight">
        {impacts.map((impact) => (
          <Impact key={`${impact.kind} ${whatOf(impact)}`} impact={impact} />
        ))}
      </ul>
      {leftOut > 0 && <p className="muted">{leftOut} more parts were not looked at.</p>}
    </section>
  );
}

function Impact({ impact }: { impact: DeployImpact }): ReactNode {
  const project = useProject();
  const [said, tone] = words[impact.kind];
  const more = impact.count - impact.installations.length;
  return (
    <li className="fault">
      <Badge tone={tone}>{impact.count.toLocaleString()}</Badge>
      <span>
        {said(whatOf(impact))}:{' '}
        {impact.installations.map(({ id, groupRef }, index) => (
          <span key={id}>
            {index > 0 && ', '}
            <Link
              to="/projects/$project/installations/$installationId"
              params={{ project, installationId: id }}
            >
              {groupRef}
            </Link>
          </span>
        ))}
        {more > 0 && ` and ${more.toLocaleString()} more`}
      </span>
    </li>
  );
}
