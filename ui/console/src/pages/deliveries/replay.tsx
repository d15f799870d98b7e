import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import type { DeliveryStatus } from '@svc/client';
import { useState, type ReactNode } from 'react';
import { answer, api } from '../../data/api.ts';
import { useProject } from '../../data/project.ts';
import { useNotAllowed } from '../../data/session.ts';
import { wordOf } from '../../data/words.ts';
import { NotFound } from '../../shell/lost.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Confirm } from '../../ui/confirm.tsx';
import { Id } from '../../ui/copy.tsx';
import { Facts, Loading, Page, Section } from '../../ui/page.tsx';
import { isNotFound, Problem } from '../../ui/problem.tsx';
import { Progress } from '../../ui/progress.tsx';
import { Time } from '../../ui/time.tsx';
import { toast } from '../../ui/toast.tsx';
import { DestinationName } from './columns.tsx';
import { deliveryStates, replayQuery, replayStates } from './queries.ts';

/** How far a replay is. */
export function ReplayPage(): ReactNode {
  const project = useProject();
  const { replayId = '' } = useParams({ strict: false });
  const { data: replay, error, refetch } = useQuery(replayQuery(project, replayId));
  if (isNotFound(error)) return <NotFound what="replay" />;
  if (error && !replay) return <Problem error={error} onRetry={() => void refetch()} />;
  if (!replay) return <Loading lines={6} />;
  const [word, tone] = replayStates[replay.status];
  const { progress, filter, destinationId } = replay;
  return (
    <Page
      title="Replay"
      beside={<Badge tone={tone}>{word}</Badge>}
      about={replay.reason}
      actions={replay.status === 'running' && <Cancel project={project} replayId={replay.id} />}
    >
      <Progress
        label="Messages that were delivered or failed for good, of those queued"
        done={progress.delivered + progress.failed}
        of={progress.queued}
      />
      <Facts
        of={[
          ['Queued', progress.queued],
          ['Delivered', progress.delivered],
          ['Waiting', progress.pending],
          ['Failed', progress.failed],
          ['Reached', progress.reachedTime && <Time key="reached" at={progress.reachedTime} />],
        ]}
      />
      <Facts
        of={[
          ['Replay', <Id key="id" value={replay.id} />],
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
          ['Started', <Time key="at" at={replay.createTime} look="full" />],
          ['Last change', <Time key="changed" at={replay.updateTime} look="full" />],
        ]}
      />
      <Section title="What was chosen">
        <Facts of={Object.entries(filter).map(chosenBy)} />
      </Section>
    </Page>
  );
}

/** A part of the filter: times and states as they are shown elsewhere. */
function chosenBy([name, value]: [name: string, value: string]): readonly [string, ReactNode] {
  if (name === 'from' || name === 'to') return [wordOf(name), <Time key={name} at={value} look="full" />];
  return [wordOf(name), name === 'status' ? deliveryStates[value as DeliveryStatus][0] : value];
}

function Cancel({ project, replayId }: { project: string; replayId: string }): ReactNode {
  const [isOpen, setOpen] = useState(false);
  const notAllowed = useNotAllowed(project, 'remediate');
  const client = useQueryClient();
  const close = (): void => setOpen(false);
  const onDone = async (): Promise<void> => {
    close();
    toast('The replay is canceled');
    await client.invalidateQueries({ queryKey: [project, 'replays'] });
  };
  return (
    <>
      <Button look="danger" disabledFor={notAllowed} onClick={() => setOpen(true)}>
        Cancel
      </Button>
      {isOpen && (
        <Confirm
          title="Cancel the replay"
          verb="Cancel it"
          act={() =>
            answer(
              api.POST('/v1/projects/{projectIdOrName}/replays/{replayId}:cancel', {
                params: { path: { projectIdOrName: project, replayId } },
              }),
            )
          }
          onDone={() => void onDone()}
          onClose={close}
        >
          <p>What was sent stays sent. What waits is not sent again.</p>
        </Confirm>
      )}
    </>
  );
}
