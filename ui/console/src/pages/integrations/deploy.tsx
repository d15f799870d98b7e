import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import { SvcError, type DeployPreview, type Integration, type ManifestIssue } from '@svc/client';
import { useEffect, useMemo, useState, type ReactNode } from 'react';
import { useAct } from '../../data/act.ts';
import { useProject } from '../../data/project.ts';
import { useNotAllowed } from '../../data/session.ts';
import { Button } from '../../ui/button.tsx';
import { Confirm } from '../../ui/confirm.tsx';
import { Editor, type Mark } from '../../ui/editor.tsx';
import { CheckField } from '../../ui/field.tsx';
import { Loading, Page } from '../../ui/page.tsx';
import { Problem } from '../../ui/problem.tsx';
import { toast } from '../../ui/toast.tsx';
import { useUnsaved } from '../../ui/unsaved.ts';
import { manifestOf } from './manifest.ts';
import { deployedMeanwhile, revisionsOf } from './meanwhile.ts';
import { Faults, Plan } from './plan.tsx';
import { deploy, integrationsQuery, planQuery } from './queries.ts';

const firstManifest = `specVersion: 1.0.0
integrations:
  - name: hubspot-crm
    provider: hubspot
    write:
      objects:
        - objectName: contacts
`;

/** The manifest of the project in an editor: its faults at their lines, what a deploy would change, and the deploy. */
export function DeployPage(): ReactNode {
  const project = useProject();
  // A text that begins with what was deployed once undoes what was deployed since.
  const { data, error, refetch } = useQuery({ ...integrationsQuery(project), gcTime: 0 });
  return (
    <Page
      title="Deploy a manifest"
      about="It begins with what is deployed. An integration that you take out of the text stays as it is."
    >
      {error && !data && <Problem error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Loading lines={12} />}
      {data && <Deploying project={project} integrations={data} />}
    </Page>
  );
}

const textOf = (integrations: readonly Integration[]): string =>
  integrations.length > 0
    ? manifestOf(integrations.map(({ latestRevision }) => latestRevision.content))
    : firstManifest;

function Deploying(props: { project: string; integrations: readonly Integration[] }): ReactNode {
  const { project, integrations } = props;
  // What is being written does not change under who writes it when somebody else deploys.
  const [first] = useState(() => textOf(integrations));
  const [text, setText] = useState(first);
  const [deployed, setDeployed] = useState(first);
  useUnsaved(text !== deployed);
  const [isDestructive, setDestructive] = useState(false);
  const settled = useSettled(text);
  const { data, error, isFetching } = useQuery({
    ...planQuery(project, settled, isDestructive),
    placeholderData: keepPreviousData,
  });
  const notAllowed = useNotAllowed(project, 'develop');
  const faults = faultsOf(error);
  const marks = useMemo(() => marksOf(error, data?.warnings ?? []), [error, data]);
  const deploying = useDeploying(props, data, async () => {
    await deploy(project, text, isDestructive);
    setDeployed(text);
  });
  const isOld = settled !== text || isFetching;
  const isRemoving = data?.integrations.some(({ removed }) => removed.length > 0) ?? false;
  return (
    <div className="beside beside-wide">
      <Editor label="Manifest" first={first} marks={marks} onChange={setText} />
      <section className="card stack" aria-label="What a deploy changes" aria-busy={isOld}>
        {faults.length > 0 && <Faults faults={faults} />}
        {error && faults.length === 0 && <Problem error={error} />}
        {data && !error && <Plan plan={data} />}
        {(isRemoving || isDestructive) && (
          <CheckField
            label="End what is taken out"
            hint="Installations that have it stop reading and writing it. Without it they go on as before."
            checked={isDestructive}
            onChange={setDestructive}
          />
        )}
        {deploying.error && <Problem error={deploying.error} />}
        <Meanwhile {...deploying} />
        <Button
          look="primary"
          isBusy={deploying.isPending}
          disabledFor={notAllowed ?? whyNot(isOld, error, data)}
          onClick={() => deploying.mutate()}
        >
          Deploy
        </Button>
      </section>
    </div>
  );
}

/** A deploy that asks before it undoes what somebody else deployed since the text was begun. */
function useDeploying(
  { project, integrations }: { project: string; integrations: readonly Integration[] },
  plan: DeployPreview | undefined,
  act: () => Promise<void>,
) {
  const client = useQueryClient();
  const [base, setBase] = useState(() => revisionsOf(integrations));
  const [others, setOthers] = useState<readonly string[]>([]);
  const latest = async () =>
    revisionsOf(await client.fetchQuery({ ...integrationsQuery(project), staleTime: 0 }));
  const over = async (): Promise<void> => {
    await act();
    setBase(await latest());
    toast('Deployed');
  };
  const { mutate, isPending, error } = useAct({
    project,
    nouns: ['integrations', 'installations'],
    act: async () => {
      const found = deployedMeanwhile(base, await latest(), plan ?? { integrations: [] });
      if (found.length > 0) setOthers(found);
      else await over();
    },
  });
  return { mutate, isPending, error, others, over, close: () => setOthers([]) };
}

function Meanwhile(props: Pick<ReturnType<typeof useDeploying>, 'others' | 'over' | 'close'>): ReactNode {
  const { others, over, close } = props;
  if (others.length === 0) return null;
  return (
    <Confirm
      title="Somebody else deployed meanwhile"
      verb="Deploy over it"
      act={over}
      onDone={close}
      onClose={close}
    >
      {others.join(', ')} was deployed since this text was begun, and the text undoes what that changed. To
      keep it, copy your text, open this page anew, and enter your changes there.
    </Confirm>
  );
}

function whyNot(isOld: boolean, error: Error | null, plan?: DeployPreview): string | undefined {
  if (isOld) return 'The text is being checked';
  if (error) return 'Mend what is wrong first';
  return plan?.integrations.every(({ change }) => change === 'unchanged')
    ? 'It is deployed already'
    : undefined;
}

const settleMs = 400;

/** The text once nobody has typed for a moment. */
function useSettled(text: string): string {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), settleMs);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}

const faultsOf = (error: Error | null): SvcError['issues'] =>
  error instanceof SvcError && error.code === 'manifest-invalid' ? error.issues : [];

function marksOf(error: Error | null, warnings: readonly ManifestIssue[]): Mark[] {
  if (error)
    return faultsOf(error).map(({ line = 1, column = 1, detail }) => ({
      line,
      column,
      message: detail,
      severity: 'error',
    }));
  return warnings.map(({ line, column, message, suggestion }) => ({
    line,
    column,
    message: [message, suggestion].filter(Boolean).join('. '),
    severity: 'warning',
  }));
}
