import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import type { Destination } from '@svc/client';
import type { ReactNode } from 'react';
import { answer, api } from '../../data/api.ts';
import { useList } from '../../data/list.ts';
import { useProject } from '../../data/project.ts';
import { kinds, linesOf, type KindField } from '../../forms/destination-fields.ts';
import { NotFound } from '../../shell/lost.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Id } from '../../ui/copy.tsx';
import { Empty } from '../../ui/empty.tsx';
import { Notice } from '../../ui/notice.tsx';
import { Facts, Loading, Page, Section } from '../../ui/page.tsx';
import { isNotFound, Problem } from '../../ui/problem.tsx';
import { Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { deliveryColumns } from '../deliveries/columns.tsx';
import { DestinationActions } from './actions.tsx';
import { destinationQuery, kindNames, stateOf } from './queries.ts';
import { Secrets } from './secrets.tsx';
import { Trial } from './trial.tsx';

/** One destination: whether it takes what it is sent, and the last messages. */
export function DestinationPage(): ReactNode {
  const project = useProject();
  const { destination: asked = '' } = useParams({ strict: false });
  const { data: destination, error, refetch } = useQuery(destinationQuery(project, asked));
  if (isNotFound(error)) return <NotFound what="destination" />;
  if (error && !destination) return <Problem error={error} onRetry={() => void refetch()} />;
  if (!destination) return <Loading lines={8} />;
  const [word, tone] = stateOf(destination);
  return (
    <Page
      title={destination.name}
      beside={<Badge tone={tone}>{word}</Badge>}
      about={kinds[destination.type].about}
      actions={<DestinationActions project={project} destination={destination} />}
    >
      <Trouble destination={destination} />
      <DestinationFacts destination={destination} />
      <Trial project={project} destination={destination} />
      {kinds[destination.type].secrets.length > 0 && <Secrets project={project} destination={destination} />}
      <Section
        title="Latest deliveries"
        beside={
          <Link
            to="/projects/$project/deliveries"
            params={{ project }}
            search={{ destination: destination.id }}
          >
            All of them
          </Link>
        }
      >
        <Latest project={project} destination={destination.id} />
      </Section>
    </Page>
  );
}

function Trouble({ destination }: { destination: Destination }): ReactNode {
  const { status, reason, failingSince } = destination;
  if (status === 'disabled')
    return (
      <Notice tone="bad" title={reason ?? 'It is disabled.'}>
        What is to be delivered waits, and is dropped once it is older than messages are kept. Mend what is
        behind it, send a test, and enable it.
      </Notice>
    );
  if (failingSince === undefined) return null;
  return (
    <Notice
      tone="warning"
      title={
        <>
          Nothing was taken since <Time at={failingSince} />.
        </>
      }
    >
      Each message is tried again for a while; the attempts below say what came back. Once the receiver is
      mended, send what waits now: the next attempts may be hours away.
    </Notice>
  );
}

function DestinationFacts({ destination }: { destination: Destination }): ReactNode {
  const { id, type, metadata, createTime, updateTime } = destination;
  const values = metadata as Record<string, unknown>;
  return (
    <Facts
      of={[
        ['Destination', <Id key="id" value={id} />],
        ['Kind', kindNames[type]],
        ...kinds[type].metadata.map((field) => [field.label, shown(field, values[field.name])] as const),
        ['Made', <Time key="at" at={createTime} look="full" />],
        ['Last change', <Time key="changed" at={updateTime} look="full" />],
      ]}
    />
  );
}

function shown({ look }: KindField, value: unknown): ReactNode {
  if (look === 'yesOrNo') return value === true ? 'Yes' : 'No';
  return look === 'headers' ? linesOf(value).join(', ') : (value as string | number | undefined);
}

const fewest = 10;

function Latest({ project, destination }: { project: string; destination: string }): ReactNode {
  const list = useList(
    [project, 'deliveries', 'list', { destination }, fewest],
    (page) =>
      answer(
        api.GET('/v1/projects/{projectIdOrName}/deliveries', {
          params: { path: { projectIdOrName: project }, query: { destination, ...page } },
        }),
      ),
    { pageSize: fewest },
  );
  return (
    <Table
      label="Latest deliveries"
      list={{ ...list, hasMore: false }}
      columns={deliveryColumns.filter(({ title }) => title !== 'To')}
      rowKey={({ id }) => id}
      empty={<Empty title="Nothing was delivered yet">Send a test to see what arrives.</Empty>}
    />
  );
}
