import { answer, api } from '../../data/api.ts';
import type { ReactNode } from 'react';
import { useFilters } from '../../data/filters.ts';
import { useList } from '../../data/list.ts';
import { Code } from '../../ui/code.tsx';
import { Diff } from '../../ui/editor.tsx';
import { More } from '../../ui/more.tsx';
import { Loading } from '../../ui/page.tsx';
import { Problem } from '../../ui/problem.tsx';
import { Time } from '../../ui/time.tsx';
import { yamlOf } from './manifest.ts';

/** What each deploy changed, the newest first; the one that is shown stands in the address. */
export function Revisions({ project, integration }: { project: string; integration: string }): ReactNode {
  const { filters, setFilters } = useFilters();
  const list = useList(
    [project, 'integrations', integration, 'revisions'],
    (query) =>
      answer(
        api.GET('/v1/projects/{projectIdOrName}/integrations/{integrationIdOrName}/revisions', {
          params: { path: { projectIdOrName: project, integrationIdOrName: integration }, query },
        }),
      ),
    { pageSize: 20 },
  );
  if (list.isLoading) return <Loading />;
  if (list.error && list.items.length === 0) return <Problem error={list.error} onRetry={list.reload} />;
  const at = Math.max(
    list.items.findIndex(({ id }) => id === filters['revision']),
    0,
  );
  const [shown, before] = [list.items[at], list.items[at + 1]];
  return (
    <div className="beside">
      <ol className="picks" aria-label="Revisions">
        {list.items.map((revision, index) => (
          <li key={revision.id}>
            <button
              type="button"
              className="pick"
              aria-current={index === at || undefined}
              onClick={() => setFilters({ revision: index === 0 ? '' : revision.id })}
            >
              <Time at={revision.createTime} />
              <span className="muted small">{index === 0 ? 'In use' : `…${revision.id.slice(-10)}`}</span>
            </button>
          </li>
        ))}
        <More {...list} />
      </ol>
      {shown && (
        <div className="stack stack-tight">
          <p className="muted">{before ? 'What it changed:' : 'The first one:'}</p>
          {before ? (
            <Diff
              label="What the revision changed"
              before={yamlOf(before.content)}
              after={yamlOf(shown.content)}
            />
          ) : (
            <Code text={yamlOf(shown.content)} label="The first revision" />
          )}
        </div>
      )}
    </div>
  );
}
