/** A page of a builder's: what it shows and to whom stands in its address. */
import { createElement, StrictMode, version, type ComponentType } from 'react';
import { createRoot } from 'react-dom/client';
import { ConnectionHealth, ConnectProvider, InstallIntegration, SvcProvider } from '@svc/embed';
import '@svc/embed/styles.css';

const query = new URLSearchParams(location.search);
const asked = (name: string, otherwise = ''): string => query.get(name) ?? otherwise;
const components: Record<string, ComponentType<object>> = {
  ConnectProvider,
  ConnectionHealth,
  InstallIntegration,
};

const getToken = async (person: { groupRef: string; consumerRef: string }) => {
  const answer = await fetch('/token', { method: 'POST', body: JSON.stringify(person) });
  return (await answer.json()) as { token: string; expiresAt: string };
};
const fieldMapping = {
  contacts: [
    {
      mapToName: 'stage',
      mapToDisplayName: 'Stage',
      mappedValues: [
        { mappedValue: 'new', mappedDisplayValue: 'New' },
        { mappedValue: 'won', mappedDisplayValue: 'Customer' },
      ],
    },
  ],
};
const theme = asked('theme', 'auto');
document.documentElement.dir = asked('dir', 'ltr');
document.body.style.background = theme === 'dark' ? '#0f1217' : '#eef0f4';

const root = document.getElementById('root');
if (root)
  createRoot(root).render(
    <StrictMode>
      <h1 hidden>React {version}</h1>
      <SvcProvider
        baseUrl={asked('base')}
        project={asked('project')}
        getToken={getToken}
        integration={asked('integration')}
        groupRef={asked('group')}
        consumerRef="ada"
      >
        {createElement(components[asked('show', 'InstallIntegration')] ?? InstallIntegration, {
          mode: asked('mode', 'popup'),
          ...(query.has('mappings') ? { fieldMapping } : {}),
          appearance: {
            language: asked('language', 'en'),
            theme,
            direction: asked('dir', 'ltr'),
            appName: 'Mailmonkey',
          },
        } as object)}
      </SvcProvider>
    </StrictMode>,
  );
