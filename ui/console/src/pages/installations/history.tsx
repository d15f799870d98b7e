import { useQueryClient } from '@tanstack/react-query';
import type { Config, Installation } from '@svc/client';
import { useState, type ReactNode } from 'react';
import { answer, api } from '../../data/api.ts';
import { saveConfig } from '../../data/config.ts';
import { useList } from '../../data/list.ts';
import { useNotAllowed } from '../../data/session.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Changes } from '../../ui/changes.tsx';
import { Confirm } from '../../ui/confirm.tsx';
import { Id } from '../../ui/copy.tsx';
import { Loading } from '../../ui/page.tsx';
import { Problem } from '../../ui/problem.tsx';
import { Time } from '../../ui/time.tsx';
import { toast } from '../../ui/toast.tsx';
import { Who } from '../people/who.tsx';

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
  if (list.error) return <Problem error={list.error} onRetry={list.reload} />;
  return (
    <ol className="timeline">
      {list.items.map((config, index) => (
        <li key={config.id}>
          <Past {...given} config={config} before={list.items[index + 1]} isLast={!list.hasMore} />
        </li>
      ))}
      {list.hasMore && (
        <li>
          <Button isBusy={list.isLoadingMore} onClick={list.loadMore}>
            Load more
          </Button>
        </li>
      )}
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
  const { project, installation, config, onClose } = props;
  const client = useQueryClient();
  // What is in force when the window opens is what the person decides on.
  const [base] = useState(installation.config);
  const onDone = async (): Promise<void> => {
    onClose();
    toast('The config is restored');
    await client.invalidateQueries({ queryKey: [project, 'installations'] });
  };
  return (
    <Confirm
      title="Restore this config"
      verb="Restore it"
      act={() => saveConfig(project, installation, base, config.content)}
      onDone={() => void onDone()}
      onClose={onClose}
    >
      <div className="stack">
        <p>It is checked like any other, and is a new entry of the history. This is changed:</p>
        <Changes before={base.content} after={config.content} empty="Nothing: it is as it is now." />
      </div>
    </Confirm>
  );
}
