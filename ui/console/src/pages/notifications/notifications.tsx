import { useQuery } from '@tanstack/react-query';
import type { Notifications } from '@svc/client';
import { useState, type ReactNode } from 'react';
import { useProject } from '../../data/project.ts';
import { useNotAllowed } from '../../data/session.ts';
import { SetNotifications } from '../../forms/notifications-set.tsx';
import { Button } from '../../ui/button.tsx';
import { Empty } from '../../ui/empty.tsx';
import { Loading, Page, Section } from '../../ui/page.tsx';
import { Problem } from '../../ui/problem.tsx';
import { eventWords } from '../events/words.ts';
import { notificationsQuery } from './queries.ts';

/** Which events are told, and where. */
export function NotificationsPage(): ReactNode {
  const project = useProject();
  const notAllowed = useNotAllowed(project, 'develop');
  const [isEditing, setEditing] = useState(false);
  const { data, error, refetch } = useQuery(notificationsQuery(project));
  const change = (
    <Button look="primary" disabledFor={notAllowed} onClick={() => setEditing(true)}>
      Change
    </Button>
  );
  return (
    <Page
      title="Notifications"
      about="Which events are told, and where."
      actions={!isEditing && data && change}
    >
      {error && !data && <Problem error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Loading lines={6} />}
      {data && isEditing && (
        <SetNotifications project={project} before={data.routes} onClose={() => setEditing(false)} />
      )}
      {data && !isEditing && <Shown notifications={data} />}
    </Page>
  );
}

function Shown({ notifications: { routes, byTopics } }: { notifications: Notifications }): ReactNode {
  if (routes.length + byTopics.length === 0)
    return (
      <Empty title="Nothing is told yet" command="svc notifications add DESTINATION connection.error">
        Be told by a webhook or in Slack when a customer’s connection breaks, before they ask.
      </Empty>
    );
  return (
    <>
      <Routes routes={routes} />
      {byTopics.length > 0 && (
        <Section title="By topics">
          <p className="muted">These were set up by topics and their routes, and are changed there.</p>
          <Routes routes={byTopics} />
        </Section>
      )}
    </>
  );
}

function Routes({ routes }: { routes: Notifications['routes'] }): ReactNode {
  return (
    <div className="stack">
      {routes.map(({ destination, eventTypes }) => (
        <section key={destination} className="card" aria-label={destination}>
          <h2>{destination}</h2>
          <ul className="plain">
            {eventTypes.map((type) => (
              <li key={type}>
                {eventWords[type][0]} <code className="muted">{type}</code>
              </li>
            ))}
          </ul>
        </section>
      ))}
    </div>
  );
}
