import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { SvcError, type Project } from '@svc/client';
import { useState, type ReactNode } from 'react';
import { useAct } from '../data/act.ts';
import { answer, api } from '../data/api.ts';
import { sessionQuery, useNotAllowed } from '../data/session.ts';
import { without } from '../data/typed.ts';
import { TextArea, TextField } from '../ui/field.tsx';
import { Form, issueAt } from '../ui/form.tsx';

const fields = {
  name: 'project.name',
  appName: 'project.appName',
  logoUrl: 'project.branding.logoUrl',
  accentColor: 'project.branding.accentColor',
  accentColorDark: 'project.branding.accentColorDark',
} as const;
type Field = keyof typeof fields;
type Typed = Partial<Record<Field, string>>;
interface Saved {
  typed: Typed;
  origins: string;
}

const valuesOf = ({ name, appName, branding }: Project): Record<Field, string> => ({
  name,
  appName,
  logoUrl: branding.logoUrl ?? '',
  accentColor: branding.accentColor ?? '',
  accentColorDark: branding.accentColorDark ?? '',
});

const linesOf = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);

/** Changes what was changed, and nothing beside it: somebody else may change the rest, and it is shown as it is by then. */
export function ProjectSettings({ project }: { project: Project }): ReactNode {
  const client = useQueryClient();
  const navigate = useNavigate();
  const first = valuesOf(project);
  const [typed, setTyped] = useState<Typed>({});
  const given = { ...first, ...typed };
  const [typedOrigins, setTypedOrigins] = useState<string>();
  const origins = typedOrigins ?? project.allowedOrigins.join('\n');
  const notAllowed = useNotAllowed(project.id, 'develop');
  const changed = (Object.keys(fields) as Field[]).filter((name) => given[name] !== first[name]);
  const areOriginsNew = linesOf(origins).join('\n') !== project.allowedOrigins.join('\n');
  const isChanged = changed.length > 0 || areOriginsNew;
  const { mutate, isPending, error } = useAct({
    project: project.name,
    nouns: ['projects'],
    said: 'Saved',
    act: (saved: Saved) =>
      answer(
        api.PATCH('/v1/projects/{projectIdOrName}', {
          params: { path: { projectIdOrName: project.id } },
          body: changeOf(given, changed, areOriginsNew ? linesOf(saved.origins) : undefined),
        }),
      ),
    onDone: ({ name }, saved) => {
      setTyped((now) => without(now, saved.typed));
      setTypedOrigins((now) => (now === saved.origins ? undefined : now));
      void client.invalidateQueries({ queryKey: sessionQuery.queryKey });
      if (name !== project.name)
        void navigate({ to: '/projects/$project/settings', params: { project: name }, replace: true });
    },
  });
  const field = (name: Field) => ({
    value: given[name],
    issue: issueAt(error, fields[name]),
    onChange: (value: string) => setTyped({ ...typed, [name]: value }),
  });
  return (
    <div className="card">
      <Form
        submit="Save"
        isBusy={isPending}
        error={error}
        fields={[...Object.values(fields), ...originPaths(error)]}
        disabledFor={notAllowed ?? (isChanged ? undefined : 'Nothing was changed')}
        onSubmit={() => mutate({ typed, origins })}
      >
        <Looks field={field} />
        <TextArea
          label="Allowed origins"
          hint="Whose pages may call the API from a browser, one a line, such as https://app.example.com."
          value={origins}
          issue={originIssue(error, linesOf(origins))}
          onChange={setTypedOrigins}
        />
      </Form>
    </div>
  );
}

interface FieldProps {
  value: string;
  issue: string | undefined;
  onChange: (value: string) => void;
}

function Looks({ field }: { field: (name: Field) => FieldProps }): ReactNode {
  return (
    <div className="fields">
      <TextField
        label="Name"
        hint="Stands in every path of the API: what calls it by the old name is refused from then on."
        {...field('name')}
      />
      <TextField
        label="Name of your application"
        hint="Your customers see it where they connect."
        {...field('appName')}
      />
      <TextField label="Logo" hint="The address of an image, by https." {...field('logoUrl')} />
      <TextField label="Colour" hint="Such as #2f5bd8." {...field('accentColor')} />
      <TextField
        label="Colour in the dark"
        hint="Where the customer prefers dark pages."
        {...field('accentColorDark')}
      />
    </div>
  );
}

function changeOf(given: Record<Field, string>, changed: readonly Field[], allowedOrigins?: string[]) {
  const named = changed.filter((name) => name === 'name' || name === 'appName');
  const isBranded = changed.length > named.length;
  const { logoUrl, accentColor, accentColorDark } = given;
  const looks = { logoUrl, accentColor, accentColorDark };
  return {
    updateMask: [...named, ...(isBranded ? ['branding'] : []), ...(allowedOrigins ? ['allowedOrigins'] : [])],
    project: {
      ...Object.fromEntries(named.map((name) => [name, given[name]])),
      ...(isBranded
        ? { branding: Object.fromEntries(Object.entries(looks).filter(([, value]) => value !== '')) }
        : {}),
      ...(allowedOrigins ? { allowedOrigins } : {}),
    },
  };
}

const originPaths = (error: Error | null): string[] =>
  error instanceof SvcError
    ? error.issues.map(({ name }) => name).filter((name) => name.startsWith('project.allowedOrigins'))
    : [];

/** The first origin that was refused, by what stands in its line. */
function originIssue(error: Error | null, lines: readonly string[]): string | undefined {
  const [path] = originPaths(error);
  if (path === undefined) return undefined;
  const at = Number(/\[(\d+)\]/.exec(path)?.[1]);
  return `${lines[at] ?? ''} ${issueAt(error, path)}`.trim();
}
