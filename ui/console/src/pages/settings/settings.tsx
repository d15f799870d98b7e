import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { projectQuery } from '../../data/project-query.ts';
import { useProject } from '../../data/project.ts';
import { ProjectSettings } from '../../forms/project-settings.tsx';
import { Id } from '../../ui/copy.tsx';
import { Facts, Loading, Page } from '../../ui/page.tsx';
import { Problem } from '../../ui/problem.tsx';
import { Time } from '../../ui/time.tsx';

/** The project's own name and looks, and which pages may call the API. */
export function SettingsPage(): ReactNode {
  const project = useProject();
  const { data, error, refetch } = useQuery(projectQuery(project));
  return (
    <Page title="Settings" about="How the project is called, and how it looks where your customers connect.">
      {error && !data && <Problem error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Loading lines={8} />}
      {data && (
        <>
          <Facts
            of={[
              ['Project id', <Id key="id" value={data.id} />],
              ['Made', <Time key="made" at={data.createTime} look="full" />],
              ['Last change', <Time key="changed" at={data.updateTime} look="full" />],
            ]}
          />
          <ProjectSettings key={data.id} project={data} />
        </>
      )}
    </Page>
  );
}
