import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { answer, api } from '../data/api.ts';
import type { Filters } from '../data/filters.ts';
import { useDestinationNames } from '../pages/destinations/queries.ts';
import { Dialog } from '../ui/dialog.tsx';
import { SelectField } from '../ui/field.tsx';
import { Form, issueAt } from '../ui/form.tsx';
import { Loading } from '../ui/page.tsx';

const ask = (project: string, filter: Filters, destination: string, dryRun: boolean) =>
  answer(
    api.POST('/v1/projects/{projectIdOrName}/deliveries:replay', {
      params: { path: { projectIdOrName: project } },
      body: { filter, dryRun, ...(destination === '' ? {} : { destination }) },
    }),
  );

interface ReplayProps {
  project: string;
  filters: Filters;
  onClose: () => void;
}

/** Counts what the filters find, and sends it again. */
export function ReplayDeliveries(props: ReplayProps): ReactNode {
  const { project, filters, onClose } = props;
  const names = useDestinationNames(project);
  const [destination, setDestination] = useState(filters['destination'] ?? '');
  const client = useQueryClient();
  const navigate = useNavigate();
  const counted = useQuery({
    queryKey: [project, 'replays', 'count', filters, destination],
    queryFn: () => ask(project, filters, destination, true),
    enabled: destination !== '',
    staleTime: 0,
  });
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => ask(project, filters, destination, false),
    onSuccess: async ({ replayId = '' }) => {
      await client.invalidateQueries({ queryKey: [project, 'replays'] });
      await navigate({ to: '/projects/$project/replays/$replayId', params: { project, replayId } });
    },
  });
  const { count = 0, countIsComplete = true } = counted.data ?? {};
  const shownCount = `${countIsComplete ? '' : 'more than '}${count.toLocaleString()}`;
  return (
    <Dialog title="Send again" isOpen onClose={onClose}>
      <Form
        submit={counted.data && count > 0 ? `Send ${shownCount} again` : 'Send again'}
        isBusy={isPending}
        error={error ?? counted.error}
        fields={['destination']}
        disabledFor={whyNot(destination, counted.data && count)}
        onSubmit={() => mutate()}
        onCancel={onClose}
      >
        <p>
          What the filters of the page show is sent again, the oldest first, with the same ids and bodies,
          behind what is delivered for the first time. What waits for an attempt is left out.
        </p>
        <SelectField
          label="Where to"
          value={destination}
          options={Object.entries(names).map(([value, label]) => ({ value, label }))}
          issue={issueAt(error ?? counted.error, 'destination')}
          onChange={setDestination}
        />
        {counted.isFetching && <Loading lines={1} />}
        <p role="status">
          {counted.data && !counted.isFetching && `${shownCount} ${count === 1 ? 'message' : 'messages'}`}
        </p>
      </Form>
    </Dialog>
  );
}

function whyNot(destination: string, count: number | undefined): string | undefined {
  if (destination === '') return 'Choose where to';
  if (count === undefined) return 'It is being counted';
  return count === 0 ? 'There is nothing to send' : undefined;
}
