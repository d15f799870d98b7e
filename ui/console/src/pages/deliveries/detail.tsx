import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import type { DeliveryAttempt, DeliveryDetail, Destination } from '@svc/client';
import type { ReactNode } from 'react';
import { answer, api } from '../../data/api.ts';
import { useProject } from '../../data/project.ts';
import { useNotAllowed } from '../../data/session.ts';
import { NotFound } from '../../shell/lost.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Code } from '../../ui/code.tsx';
import { Id } from '../../ui/copy.tsx';
import { Empty } from '../../ui/empty.tsx';
import { Facts, Loading, Page, Section } from '../../ui/page.tsx';
import { isNotFound, Problem } from '../../ui/problem.tsx';
import { duration, Time } from '../../ui/time.tsx';
import { toast } from '../../ui/toast.tsx';
import { DestinationName } from './columns.tsx';
import { carriedBy, deliveryQuery, stateOf } from './queries.ts';
import { Trouble, useDestination } from './trouble.tsx';

/** One message: what each attempt met, and what was sent. */
export function DeliveryPage(): ReactNode {
  const project = useProject();
  const { deliveryId = '' } = useParams({ strict: false });
  const { data: delivery, error, refetch } = useQuery(deliveryQuery(project, deliveryId));
  if (isNotFound(error)) return <NotFound what="delivery" />;
  if (error && !delivery) return <Problem error={error} onRetry={() => void refetch()} />;
  if (!delivery) return <Loading lines={8} />;
  const [word, tone] = stateOf(delivery);
  return (
    <Page
      title={carriedBy(delivery)}
      beside={<Badge tone={tone}>{word}</Badge>}
      actions={<Retry project={project} delivery={delivery} />}
    >
      <Trouble project={project} delivery={delivery} />
      <DeliveryFacts project={project} delivery={delivery} />
      <Section title="Attempts">
        <Attempts attempts={delivery.attempts} />
      </Section>
      <Section title="Body">
        {delivery.body === undefined ? (
          <Empty title="The body is not kept">
            It is removed some days after the message was made, or was never kept here.
          </Empty>
        ) : (
          <Code text={delivery.body} label="Body of the message" />
        )}
      </Section>
    </Page>
  );
}

function DeliveryFacts(props: { project: string; delivery: DeliveryDetail }): ReactNode {
  const { project, delivery } = props;
  const { id, destinationId, operationId, installationId, groupRef, bytes } = delivery;
  return (
    <Facts
      of={[
        ['Delivery', <Id key="id" value={id} />],
        [
          'To',
          <Link
            key="to"
            to="/projects/$project/destinations/$destination"
            params={{ project, destination: destinationId }}
          >
            <DestinationName id={destinationId} />
          </Link>,
        ],
        [
          'Operation',
          operationId && (
            <Link
              key="operation"
              to="/projects/$project/operations/$operationId"
              params={{ project, operationId }}
            >
              <code>{operationId}</code>
            </Link>
          ),
        ],
        [
          'Installation',
          installationId && (
            <Link
              key="installation"
              to="/projects/$project/installations/$installationId"
              params={{ project, installationId }}
            >
              <code>{installationId}</code>
            </Link>
          ),
        ],
        ['Group', groupRef],
        ['Records', delivery.numRecords || undefined],
        ['Size', `${bytes.toLocaleString()} bytes`],
        ['Made', <Time key="at" at={delivery.createTime} look="full" />],
      ]}
    />
  );
}

function Attempts({ attempts }: { attempts: readonly DeliveryAttempt[] }): ReactNode {
  if (attempts.length === 0)
    return <Empty title="Not tried yet">It waits for its turn, or for its destination to be enabled.</Empty>;
  return (
    <ol className="timeline">
      {attempts.map(({ time, status, latencyMs, answer: came, error }) => (
        <li key={time}>
          <div className="exchange attempt">
            <p className="row">
              <Badge tone={error === undefined ? 'good' : 'bad'}>
                {status ?? (error ? 'No answer' : 'Taken')}
              </Badge>
              <span>{error}</span>
              <span className="muted">
                <Time at={time} /> · {duration(latencyMs)}
              </span>
            </p>
            {came && <Code text={came} label="Answer" />}
          </div>
        </li>
      ))}
    </ol>
  );
}

function Retry({ project, delivery }: { project: string; delivery: DeliveryDetail }): ReactNode {
  const client = useQueryClient();
  const notAllowed = useNotAllowed(project, 'remediate');
  const { mutate, isPending, error } = useMutation({
    mutationFn: () =>
      answer(
        api.POST('/v1/projects/{projectIdOrName}/deliveries/{deliveryId}:retry', {
          params: { path: { projectIdOrName: project, deliveryId: delivery.id } },
          body: {},
        }),
      ),
    onSuccess: async () => {
      toast('It is sent again');
      await client.invalidateQueries({ queryKey: [project, 'deliveries'] });
    },
  });
  const destination = useDestination(project, delivery);
  return (
    <>
      <Button
        look={delivery.status === 'failed' ? 'primary' : 'plain'}
        isBusy={isPending}
        disabledFor={whyNotAgain(delivery, destination) ?? notAllowed}
        onClick={() => mutate()}
      >
        Send again
      </Button>
      {error && <Problem error={error} />}
    </>
  );
}

function whyNotAgain({ status }: DeliveryDetail, destination: Destination | undefined): string | undefined {
  if (status !== 'pending') return undefined;
  if (destination?.status === 'disabled') return 'It waits until its destination is enabled';
  return 'It waits for its next attempt already; its destination can send all that waits now';
}
