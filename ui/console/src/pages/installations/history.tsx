import type { Config, Installation } from '@svc/client';
import { useState, type ReactNode } from 'react';
import { answer, api } from '../../data/api.ts';
import { useList } from '../../data/list.ts';
import { useNotAllowed } from '../../data/session.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Changes } from '../../ui/changes.tsx';
import { Id } from '../../ui/copy.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Form } from '../../ui/form.tsx';
import { More } from '../../ui/more.tsx';
import { Loading } from '../../ui/page.tsx';
import { Problem } from '../../ui/problem.tsx';
import { Time } from '../../ui/time.tsx';
import { Who } from '../people/who.tsx';
import { Collision, useSaving, type Meanwhile } from './saving.tsx';

interface Given {
  project: string;
  installation: Installation;
}

/** What the installation was configured to: who changed what, and back to it. */
export function History(given: Given): ReactNode {
  const { project, installation } = given;
  const list = useList(
    [project, 'installations', installation.id, 'configs'],
    (page) =>
      answer(
        api.GET('/v1/projects/{projectIdOrName}/installations/{installationId}/configs', {
          params: { path: { projectIdOrName: project, installationId: installation.id }, query: page },
        }),
      ),
    { pageSize: 20 },
  );
  if (list.isLoading) return <Loading lines={6} />;
  if (list.error && list.items.length === 0) return <Problem error={list.error} onRetry={list.reload} />;
  return (
    <ol className="timeline">
      {list.items.map((config, index) => (
        <li key={config.id}>
          <Past {...given} config={config} before={list.items[index + 1]} isLast={!list.hasMore} />
        </li>
      ))}
      <More {...list} />
    </ol>
  );
}

function Past(props: Given & { config: Config; before: Config | undefined; isLast: boolean }): ReactNode {
  const { project, installation, config, before, isLast } = props;
  const [isRestoring, setRestoring] = useState(false);
  const notAllowed = useNotAllowed(project, 'develop');
  const isCurrent = config.id === installation.config.id;
  return (
    <article className="exchange attempt">
      <header className="row">
        <span className="strong">
          <Time at={config.createTime} look="full" />
        </span>
        <span className="muted">
          <Who by={config.createdBy} />
        </span>
        <Id value={config.id} isShort />
        {isCurrent ? (
          <Badge tone="good">In force</Badge>
        ) : (
          <Button disabledFor={notAllowed} onClick={() => setRestoring(true)}>
            Restore …
          </Button>
        )}
      </header>
      {before && <Changes before={before.content} after={config.content} empty="The same as before." />}
      {!before && isLast && <p className="muted">The first config.</p>}
      {isRestoring && <Restore {...props} onClose={() => setRestoring(false)} />}
    </article>
  );
}

function Restore(props: Given & { config: Config; onClose: () => void }): ReactNode {
  const { config, onClose } = props;
  // What is in force when the window opens is what the person decides on.
  const [base, setBase] = useState(props.installation.config);
  const [meanwhile, setMeanwhile] = useState<Meanwhile>();
  const { mutate, refused, isPending } = useSaving(props, {
    said: 'The config is restored',
    onDone: onClose,
    onCollision: (current) => {
      setMeanwhile({ from: base, to: current });
      setBase(current);
    },
  });
  return (
    <Dialog title="Restore this config" isOpen onClose={onClose}>
      <Form
        submit="Restore it"
        look="danger"
        isBusy={isPending}
        error={refused}
        onSubmit={() => mutate({ base, content: config.content })}
        onCancel={onClose}
      >
        {meanwhile && (
          <Collision {...meanwhile}>
            Nothing is restored yet. Look at what restoring changes now, and restore it again.
          </Collision>
        )}
        <p>It is checked like any other, and is a new entry of the history. This is changed:</p>
        <Changes before={base.content} after={config.content} empty="Nothing: it is as it is now." />
      </Form>
    </Dialog>
  );
}
