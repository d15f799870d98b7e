/** A page of a builder's: what it shows and to whom stands in its address. */
import { createElement, StrictMode, useState, version, type ComponentType, type ReactNode } from 'react';
import { createRoot } from 'react-dom/client';
import {
  ConnectionHealth,
  ConnectProvider,
  InstallIntegration,
  SvcProvider,
  useConfig,
  useCreateInstallation,
  useInstallation,
  useManifest,
  useUpdateInstallation,
} from '@svc/embed';
import '@svc/embed/styles.css';

const query = new URLSearchParams(location.search);
const asked = (name: string, otherwise = ''): string => query.get(name) ?? otherwise;
/** What a builder's own form knows. */
function Hooks(): ReactNode {
  const manifest = useManifest();
  const { isPending, isConnected } = manifest;
  const config = useConfig();
  Object.assign(window, {
    hooks: {
      config,
      manifest,
      installation: useInstallation(),
      create: useCreateInstallation(),
      update: useUpdateInstallation(),
    },
  });
  const known = { isPending, isConnected, provider: config.get().provider, installable: config.isConnected };
  return <output>{JSON.stringify(known)}</output>;
}

const components: Record<string, ComponentType<object>> = {
  Hooks,
  ConnectProvider,
  ConnectionHealth,
  InstallIntegration,
};

const getToken = async (person: { groupRef: string; consumerRef: string }): Promise<Response> =>
  fetch('/token', { method: 'POST', body: JSON.stringify(person) });
const fieldMapping = {
  contacts: [
    {
      mapToName: 'stage',
      mapToDisplayName: 'Stage',
      mappedValues: [
        { mappedValue: 'new', mappedDisplayValue: 'New' },
        { mappedValue: asked('mappings') === 'renamed' ? 'closed' : 'won', mappedDisplayValue: 'Customer' },
      ],
    },
  ],
};
/** As JavaScript without types may have it. */
const brokenMapping = {
  contacts: [{}, { mapToName: 'nickname' }, ...fieldMapping.contacts],
  companies: null,
};
const theme = asked('theme', 'auto');
document.documentElement.dir = asked('dir', 'ltr');
document.body.style.background = theme === 'dark' ? '#0f1217' : '#eef0f4';

/** What the page was told by a component, in order. */
const told: unknown[] = [];
Object.assign(window, { told });
const hear =
  (event: string) =>
  (id: unknown): number =>
    told.push([event, typeof id === 'object' && id !== null && 'id' in id ? id.id : id]);

function Shown({ integration, groupRef }: { integration: string; groupRef: string }): ReactNode {
  // A builder's page learns of a name when it will.
  const [consumerName, setName] = useState<string>();
  Object.assign(window, { nameConsumer: setName });
  return (
    <SvcProvider
      baseUrl={asked('base')}
      project={asked('project')}
      {...(query.has('noToken') ? {} : { getToken })}
      integration={integration}
      groupRef={groupRef}
      consumerRef={asked('consumer', 'ada')}
      {...(consumerName === undefined ? {} : { consumerName })}
    >
      {createElement(components[asked('show', 'InstallIntegration')] ?? InstallIntegration, {
        mode: asked('mode', 'popup'),
        ...(query.has('returnUrl') ? { returnUrl: asked('returnUrl') } : {}),
        quiet: query.has('quiet'),
        ...(query.has('mappings')
          ? { fieldMapping: asked('mappings') === 'broken' ? brokenMapping : fieldMapping }
          : {}),
        appearance: {
          language: asked('language', 'en'),
          theme,
          direction: asked('dir', 'ltr'),
          appName: 'Mailmonkey',
        },
        onInstallSuccess: hear('installed'),
        onUpdateSuccess: hear('updated'),
        onUninstallSuccess: hear('uninstalled'),
        onConnectSuccess: hear('connected'),
        onDisconnectSuccess: hear('disconnected'),
      } as object)}
    </SvcProvider>
  );
}

/** One component, or two beside each other; another customer's on request. */
function Page(): ReactNode {
  const [groupRef, setGroup] = useState(asked('group'));
  return (
    <>
      <h1 hidden>React {version}</h1>
      {query.has('other') ? <button onClick={() => setGroup(asked('other'))}>Another customer</button> : null}
      <div id="first">
        <Shown integration={asked('integration')} groupRef={groupRef} />
      </div>
      {query.has('second') ? (
        <div id="second">
          <Shown integration={asked('second')} groupRef={groupRef} />
        </div>
      ) : null}
    </>
  );
}

const root = document.getElementById('root');
if (root)
  createRoot(root).render(
    <StrictMode>
      <Page />
    </StrictMode>,
  );
