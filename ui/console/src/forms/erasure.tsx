import { useQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { useAct } from '../data/act.ts';
import { answer, api } from '../data/api.ts';
import { groupQuery } from '../pages/connections/queries.ts';
import { kinds } from '../pages/storage/kinds.ts';
import { Dialog } from '../ui/dialog.tsx';
import { SelectField, TextField } from '../ui/field.tsx';
import { Form, issueAt } from '../ui/form.tsx';
import { Notice } from '../ui/notice.tsx';
import { Loading } from '../ui/page.tsx';
import { Problem } from '../ui/problem.tsx';

const what = [
  { value: 'group', label: 'One group: a customer of yours' },
  { value: 'project', label: 'The whole project' },
];

/** Erases what was kept of a group or of the project; what is erased is typed, so that it is meant. */
export function Erase({ project, onClose }: { project: string; onClose: () => void }): ReactNode {
  const [of, setOf] = useState('group');
  const [groupRef, setGroupRef] = useState('');
  const [typed, setTyped] = useState('');
  const isWhole = of === 'project';
  const { mutate, data, isPending, error } = useAct({
    project,
    nouns: ['storage', 'operations', 'deliveries', 'events', 'proxy-logs'],
    act: () =>
      answer(
        api.POST('/v1/projects/{projectIdOrName}/erasures', {
          params: { path: { projectIdOrName: project } },
          body: isWhole ? { wholeProject: true } : { groupRef },
        }),
      ),
  });
  if (data) return <Erased project={project} erasureId={data.id} onClose={onClose} />;
  const meant = isWhole ? project : groupRef;
  return (
    <Dialog title="Erase what was kept" isOpen onClose={onClose}>
      <Form
        submit="Erase it for good"
        look="danger"
        isBusy={isPending}
        error={error}
        fields={['groupRef']}
        disabledFor={meant === '' || typed !== meant ? 'Type what is erased into the last field' : undefined}
        onSubmit={() => mutate()}
        onCancel={onClose}
      >
        <SelectField label="Of what" value={of} options={what} onChange={setOf} />
        {!isWhole && (
          <TextField
            label="Reference of the group"
            value={groupRef}
            issue={issueAt(error, 'groupRef')}
            onChange={setGroupRef}
          />
        )}
        {!isWhole && typed === groupRef && <UnknownGroup project={project} groupRef={groupRef} />}
        <TextField
          label={isWhole ? `Type ${project} to go on` : 'Type the reference again to go on'}
          hint="Nothing of it can be had back. What is being written or delivered ends first."
          autoComplete="off"
          value={typed}
          onChange={setTyped}
        />
      </Form>
    </Dialog>
  );
}

/** That nothing is erased: a reference with a slip in it names nobody. */
function UnknownGroup({ project, groupRef }: { project: string; groupRef: string }): ReactNode {
  const { data: isKnown } = useQuery(groupQuery(project, groupRef));
  if (isKnown !== false) return null;
  return (
    <Notice tone="warning" title={`No group has the reference ${groupRef}.`}>
      Look whether it is spelled right. Nothing is erased of a group that there never was; of one that was
      erased before, what is left of it is.
    </Notice>
  );
}

const askEveryMs = 1000;

function Erased(props: { project: string; erasureId: string; onClose: () => void }): ReactNode {
  const { project, erasureId, onClose } = props;
  const { data, error } = useQuery({
    queryKey: [project, 'erasures', erasureId],
    queryFn: () =>
      answer(
        api.GET('/v1/projects/{projectIdOrName}/erasures/{erasureId}', {
          params: { path: { projectIdOrName: project, erasureId } },
        }),
      ),
    refetchInterval: ({ state }) => (state.data?.status === 'done' ? false : askEveryMs),
  });
  const removed = (Object.entries(data?.removed ?? {}) as [keyof typeof kinds, number][]).filter(
    ([, count]) => count > 0,
  );
  return (
    <Dialog title={data?.status === 'done' ? 'Erased' : 'Erasing …'} isOpen onClose={onClose}>
      <div className="stack">
        {error && <Problem error={error} />}
        {!data && !error && <Loading lines={3} />}
        {data?.status === 'done' && removed.length === 0 && (
          <p>There was nothing to erase{data.groupRef === undefined ? '' : ` of ${data.groupRef}`}.</p>
        )}
        <ul>
          {removed.map(([kind, count]) => (
            <li key={kind}>
              {kinds[kind][0]}: {count.toLocaleString()}
            </li>
          ))}
        </ul>
        {data !== undefined && data.unfinished > 0 && (
          <p className="muted">{data.unfinished} writes were not finished and stay until they are.</p>
        )}
      </div>
    </Dialog>
  );
}
