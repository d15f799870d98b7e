import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { EventType, NotificationRoute } from '@svc/client';
import { useState, type ReactNode } from 'react';
import { answer, api } from '../data/api.ts';
import { destinationsQuery } from '../pages/destinations/queries.ts';
import { eventWords } from '../pages/events/words.ts';
import { notificationsQuery } from '../pages/notifications/queries.ts';
import { Empty } from '../ui/empty.tsx';
import { CheckField } from '../ui/field.tsx';
import { Form } from '../ui/form.tsx';
import { Loading } from '../ui/page.tsx';
import { Problem } from '../ui/problem.tsx';
import { toast } from '../ui/toast.tsx';

type Chosen = Readonly<Record<string, readonly EventType[]>>;
const types = Object.keys(eventWords) as EventType[];

/** All topics and routes in one form: for each destination the events that it is told. */
export function SetNotifications(props: {
  project: string;
  before: readonly NotificationRoute[];
  onClose: () => void;
}): ReactNode {
  const { project, before, onClose } = props;
  const { data: destinations, error: notListed } = useQuery(destinationsQuery(project));
  const [chosen, setChosen] = useState<Chosen>(() => chosenOf(before));
  // What is being chosen on does not change under who chooses.
  const [first] = useState(chosen);
  const { mutate, error, isPending } = useSetting(project, first, onClose);
  if (notListed) return <Problem error={notListed} />;
  if (!destinations) return <Loading lines={6} />;
  if (destinations.length === 0)
    return <Empty title="There is no destination to tell">Make one first, of any kind.</Empty>;
  return (
    <Form submit="Save" isBusy={isPending} error={error} onSubmit={() => mutate(chosen)} onCancel={onClose}>
      {destinations.map(({ name }) => (
        <fieldset key={name} className="card">
          <legend className="strong">{name}</legend>
          <div className="choices">
            {types.map((type) => (
              <CheckField
                key={type}
                label={eventWords[type][0]}
                checked={chosen[name]?.includes(type) ?? false}
                onChange={(isTold) => setChosen(withChoice(chosen, name, type, isTold))}
              />
            ))}
          </div>
        </fieldset>
      ))}
    </Form>
  );
}

/** Saves what was changed, upon what is saved by then: somebody else may have changed other things. */
function useSetting(project: string, first: Chosen, onClose: () => void) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: async (chosen: Chosen) => {
      const { routes } = await client.fetchQuery({ ...notificationsQuery(project), staleTime: 0 });
      return answer(
        api.PUT('/v1/projects/{projectIdOrName}/notifications', {
          params: { path: { projectIdOrName: project } },
          body: { routes: routesOf(upon(chosenOf(routes), first, chosen)) },
        }),
      );
    },
    onSuccess: async () => {
      toast('The notifications are saved');
      onClose();
      await client.invalidateQueries({ queryKey: [project, 'notifications'] });
    },
  });
}

function chosenOf(routes: readonly NotificationRoute[]): Chosen {
  const chosen: Record<string, EventType[]> = {};
  for (const { destination, eventTypes } of routes)
    chosen[destination] = [...(chosen[destination] ?? []), ...eventTypes];
  return chosen;
}

const withChoice = (chosen: Chosen, name: string, type: EventType, isTold: boolean): Chosen => {
  const others = (chosen[name] ?? []).filter((one) => one !== type);
  return { ...chosen, [name]: isTold ? [...others, type] : others };
};

/** What was ticked and unticked since `first`, upon what is saved. */
function upon(saved: Chosen, first: Chosen, chosen: Chosen): Chosen {
  const names = new Set([...Object.keys(saved), ...Object.keys(chosen)]);
  const has = (of: Chosen, name: string, type: EventType): boolean => of[name]?.includes(type) ?? false;
  const isTold = (name: string, type: EventType): boolean =>
    has(first, name, type) === has(chosen, name, type) ? has(saved, name, type) : has(chosen, name, type);
  return Object.fromEntries(
    [...names].map((name) => {
      const all = new Set([...(saved[name] ?? []), ...(chosen[name] ?? [])]);
      return [name, [...all].filter((type) => isTold(name, type))];
    }),
  );
}

const routesOf = (chosen: Chosen): NotificationRoute[] =>
  Object.entries(chosen)
    .filter(([, eventTypes]) => eventTypes.length > 0)
    .map(([destination, eventTypes]) => ({ destination, eventTypes: [...eventTypes] }));
