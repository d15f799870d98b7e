import { useQuery } from '@tanstack/react-query';
import type { Project, Storage } from '@svc/client';
import { useState, type ReactNode } from 'react';
import { useAct } from '../data/act.ts';
import { answer, api } from '../data/api.ts';
import { without } from '../data/typed.ts';
import { projectQuery } from '../data/project-query.ts';
import { useNotAllowed } from '../data/session.ts';
import { kinds } from '../pages/storage/kinds.ts';
import { TextField } from '../ui/field.tsx';
import { Form, issueAt } from '../ui/form.tsx';
import { Loading } from '../ui/page.tsx';
import { Problem } from '../ui/problem.tsx';

type Kept = Project['keepDays'];
type Kind = keyof Kept;
type Typed = Partial<Record<Kind, string>>;
const own: readonly Kind[] = ['operations', 'exchanges', 'messages', 'events', 'proxyLogs'];

/** Fewer days than the operator keeps, by kind. */
export function KeepDays({ project, held }: { project: string; held: Storage['kinds'] }): ReactNode {
  const { data, error } = useQuery(projectQuery(project));
  if (error && !data) return <Problem error={error} />;
  if (!data) return <Loading lines={5} />;
  return <Days project={project} kept={data.keepDays} held={held} />;
}

function Days(props: { project: string; kept: Kept; held: Storage['kinds'] }): ReactNode {
  const { project, kept, held } = props;
  const [given, setGiven] = useState<Typed>({});
  const changed = own.filter((kind) => given[kind] !== undefined && given[kind] !== `${kept[kind] ?? ''}`);
  const notAllowed = useNotAllowed(project, 'develop');
  const { mutate, isPending, error } = useAct({
    project,
    nouns: ['projects', 'storage'],
    said: 'Saved',
    act: (days: Typed) =>
      answer(
        api.PATCH('/v1/projects/{projectIdOrName}', {
          params: { path: { projectIdOrName: project } },
          body: {
            updateMask: Object.keys(days).map((kind) => `keepDays.${kind}`),
            project: {
              keepDays: Object.fromEntries(Object.entries(days).map(([kind, text]) => [kind, daysOf(text)])),
            },
          },
        }),
      ),
    onDone: (_, days) => setGiven((now) => without(now, days)),
  });
  const pathOf = (kind: Kind): string => `project.keepDays.${kind}`;
  return (
    <div className="card">
      <Form
        submit="Save"
        isBusy={isPending}
        error={error}
        fields={own.map(pathOf)}
        disabledFor={notAllowed ?? (changed.length === 0 ? 'Nothing was changed' : undefined)}
        onSubmit={() => mutate(Object.fromEntries(changed.map((kind) => [kind, given[kind]])))}
      >
        <div className="fields">
          {own.map((kind) => (
            <TextField
              key={kind}
              label={`${kinds[kind][0]}, days`}
              hint={hintOf(kind, held)}
              type="number"
              min={0}
              value={given[kind] ?? `${kept[kind] ?? ''}`}
              issue={issueAt(error, pathOf(kind))}
              onChange={(value) => setGiven({ ...given, [kind]: value })}
            />
          ))}
        </div>
      </Form>
    </div>
  );
}

const daysOf = (text = ''): number | null => (text === '' ? null : Number(text));

function hintOf(kind: Kind, held: Storage['kinds']): string {
  const most = held.find((one) => one.kind === kind)?.keepDays;
  const usual = most === undefined ? 'Empty: as long as the operator keeps it.' : `Empty: ${most} days.`;
  return kind === 'exchanges' || kind === 'messages' ? `${usual} 0: none is kept.` : usual;
}
