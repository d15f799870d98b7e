import { useQueryClient } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { answer, api } from '../../data/api.ts';
import type { Filters } from '../../data/filters.ts';
import { useNotAllowed } from '../../data/session.ts';
import { Button } from '../../ui/button.tsx';
import { Many, type DoPage } from '../../ui/many.tsx';
import { Menu } from '../../ui/menu.tsx';
import { toast } from '../../ui/toast.tsx';

type Act = 'retry' | 'cancel';

const words = {
  retry: {
    title: 'Retry what failed',
    about:
      'The failed records of the failed operations that the filters show are written again, each in a new operation. Those of which only some records failed are chosen by the filter Partly done.',
    verb: (count: string) => `Retry ${count}`,
    past: 'retried',
  },
  cancel: {
    title: 'Cancel what waits',
    about:
      'Writes in progress that the filters show end as failed, where nothing was sent yet. What is being sent goes on.',
    verb: (count: string) => `Cancel ${count}`,
    past: 'canceled',
  },
} as const;

/** What can be done to all operations that the filters of the page show; `key` them, so that a count by one filter ends with it. */
export function ManyOperations({ project, filters }: { project: string; filters: Filters }): ReactNode {
  const [act, setAct] = useState<Act>();
  const client = useQueryClient();
  const notAllowed = useNotAllowed(project, 'remediate');
  const close = (): void => setAct(undefined);
  const disabledFor =
    notAllowed ?? (actsOn(filters).length === 0 ? 'Reads are not retried or canceled' : undefined);
  if (disabledFor !== undefined) return <Button disabledFor={disabledFor}>All of these …</Button>;
  return (
    <>
      <Menu
        button="All of these …"
        entries={actsOn(filters).map((name) => ({
          label: words[name].title,
          onSelect: () => setAct(name),
        }))}
      />
      {act && (
        <Many
          {...words[act]}
          doPage={act === 'retry' ? retryPage(project, filters) : cancelPage(project, filters)}
          onClose={close}
          onDone={({ done }) => {
            toast(`${done} ${words[act].past}`);
            close();
            void client.invalidateQueries({ queryKey: [project, 'operations'] });
          }}
        />
      )}
    </>
  );
}

/** What does something to operations of the kind and the status that the filters show. */
function actsOn({ status, actionType, partlyDone }: Filters): Act[] {
  if (actionType === 'read') return [];
  if (status === undefined) return partlyDone ? ['retry'] : ['retry', 'cancel'];
  return status === 'in_progress' ? ['cancel'] : ['retry'];
}

const path = (project: string) => ({ params: { path: { projectIdOrName: project } } });

const retryPage =
  (project: string, { partlyDone, ...rest }: Filters): DoPage =>
  async (dryRun, pageToken) => {
    const filter = { ...rest, ...(partlyDone ? { partlyDone: partlyDone === 'true' } : {}) };
    const body = { filter, dryRun, ...(pageToken === undefined ? {} : { pageToken }) };
    const { retried, refused, pagination } = await answer(
      api.POST('/v1/projects/{projectIdOrName}/operations:retry', { ...path(project), body }),
    );
    return { done: retried, refused, nextPageToken: pagination.nextPageToken };
  };

const cancelPage =
  (project: string, { status: _status, actionType: _actionType, ...filter }: Filters): DoPage =>
  async (dryRun, pageToken) => {
    const body = { filter, dryRun, ...(pageToken === undefined ? {} : { pageToken }) };
    const { canceled, refused, pagination } = await answer(
      api.POST('/v1/projects/{projectIdOrName}/operations:cancel', { ...path(project), body }),
    );
    return { done: canceled, refused, nextPageToken: pagination.nextPageToken };
  };
