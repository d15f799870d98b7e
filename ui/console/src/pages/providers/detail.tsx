import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import type { ProviderInfo } from '@svc/client';
import type { ReactNode } from 'react';
import { useProject } from '../../data/project.ts';
import { NotFound } from '../../shell/lost.tsx';
import { CopyButton } from '../../ui/copy.tsx';
import { Facts, Loading, Page, Section } from '../../ui/page.tsx';
import { Problem } from '../../ui/problem.tsx';
import { ProviderApps } from './apps.tsx';
import { authTypes, catalogueQuery, redirectUri, supportOf } from './queries.ts';

/** One provider: how its accounts are connected, and what svc can do there. */
export function ProviderPage(): ReactNode {
  const project = useProject();
  const { provider = '' } = useParams({ strict: false });
  const { data, error, refetch } = useQuery(catalogueQuery);
  if (error && !data) return <Problem error={error} onRetry={() => void refetch()} />;
  if (!data) return <Loading lines={8} />;
  const info = data.find(({ name }) => name === provider);
  if (!info) return <NotFound what="provider" />;
  const isOAuth = info.authType === 'oauth2';
  return (
    <Page title={info.displayName} about={`${info.name} in a manifest.`}>
      <Facts
        of={[
          ['Signs in by', authTypes[info.authType]],
          ['Calls go to', info.baseURL],
          ['What svc can do there', supportOf(info).join(' · ')],
          [
            'Its documentation',
            info.docsURL && (
              <a key="docs" href={info.docsURL} target="_blank" rel="noreferrer">
                {info.docsURL}
              </a>
            ),
          ],
        ]}
      />
      {info.modules && <Modules modules={info.modules} />}
      {isOAuth && (
        <Section title="Provider apps">
          <p className="muted row">
            Redirect URI for the client there: <code>{redirectUri()}</code>
            <CopyButton text={redirectUri()} label="Copy the redirect URI" />
          </p>
          <ProviderApps project={project} provider={info.name} />
        </Section>
      )}
    </Page>
  );
}

function Modules({ modules }: { modules: NonNullable<ProviderInfo['modules']> }): ReactNode {
  return (
    <Section title="Modules">
      <div className="table-frame">
        <table className="table table-text" aria-label="Modules">
          <thead>
            <tr>
              <th scope="col">Name</th>
              <th scope="col">Calls go to</th>
            </tr>
          </thead>
          <tbody>
            {Object.entries(modules).map(([name, { displayName, baseURL }]) => (
              <tr key={name}>
                <td>
                  <span className="strong">{displayName}</span> <span className="muted">{name}</span>
                </td>
                <td>{baseURL}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Section>
  );
}
