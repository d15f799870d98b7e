import { createRootRoute, createRoute, createRouter, redirect } from '@tanstack/react-router';
import { known, parseSearch, stringifySearch } from './data/filters.ts';
import { queryClient } from './data/query.ts';
import { isNobody, sessionQuery } from './data/session.ts';
import { lastProject } from './shell/last-project.ts';
import { lazyPage } from './shell/lazy-page.ts';
import { Layout } from './shell/layout.tsx';
import { Crashed, NotFound } from './shell/lost.tsx';
import { Outside } from './shell/outside.tsx';
import { SessionGate } from './shell/session-gate.tsx';

// A page is a route: a line here, a file in `pages/` whose code is loaded when it is first shown, and its place in `shell/nav.ts`.

const root = createRootRoute({ notFoundComponent: () => <NotFound /> });

// Before somebody is signed in. `src/console.ts` knows the first words of all addresses.
const signIn = createRoute({
  getParentRoute: () => root,
  path: 'sign-in',
  validateSearch: known('returnTo', 'refused'),
  component: lazyPage(() => import('./pages/door/sign-in.tsx'), 'SignInPage'),
});
const accept = lazyPage(() => import('./pages/door/accept.tsx'), 'AcceptPage');
const welcome = createRoute({ getParentRoute: () => root, path: 'welcome', component: accept });
const invitation = createRoute({ getParentRoute: () => root, path: 'invitation', component: accept });
const reset = createRoute({ getParentRoute: () => root, path: 'reset', component: accept });

const signedIn = createRoute({
  getParentRoute: () => root,
  id: 'signed-in',
  beforeLoad: async ({ location: { href } }) => {
    const error = await queryClient.ensureQueryData(sessionQuery).then(
      () => null,
      (cause: Error) => cause,
    );
    if (isNobody(error)) redirect({ to: '/sign-in', search: { returnTo: href }, replace: true, throw: true });
  },
  component: SessionGate,
});
const start = createRoute({
  getParentRoute: () => signedIn,
  path: '/',
  beforeLoad: () => {
    const { projects: mine = [] } = queryClient.getQueryData(sessionQuery.queryKey) ?? {};
    const chosen = mine.find(({ name }) => name === lastProject()) ?? mine[0];
    if (!chosen) redirect({ to: '/projects', replace: true, throw: true });
    else redirect({ to: '/projects/$project', params: { project: chosen.name }, replace: true, throw: true });
  },
});

const outside = createRoute({ getParentRoute: () => signedIn, id: 'outside', component: Outside });
const projects = createRoute({
  getParentRoute: () => outside,
  path: 'projects',
  component: lazyPage(() => import('./pages/projects/list.tsx'), 'ProjectsPage'),
});
const account = createRoute({
  getParentRoute: () => outside,
  path: 'account',
  component: lazyPage(() => import('./pages/account/account.tsx'), 'AccountPage'),
});

const project = createRoute({
  getParentRoute: () => signedIn,
  path: 'projects/$project',
  component: Layout,
});
const projectStart = createRoute({
  getParentRoute: () => project,
  path: '/',
  beforeLoad: ({ params }) => {
    redirect({ to: '/projects/$project/overview', params, replace: true, throw: true });
  },
});
const overview = createRoute({
  getParentRoute: () => project,
  path: 'overview',
  validateSearch: known('range'),
  component: lazyPage(() => import('./pages/overview/overview.tsx'), 'OverviewPage'),
});
const operations = createRoute({
  getParentRoute: () => project,
  path: 'operations',
  validateSearch: known(
    'status',
    'errorCategory',
    'partlyDone',
    'unresolved',
    'object',
    'groupRef',
    'installationId',
    'actionType',
    'from',
    'to',
  ),
  component: lazyPage(() => import('./pages/operations/list.tsx'), 'OperationsPage'),
});
const operation = createRoute({
  getParentRoute: () => project,
  path: 'operations/$operationId',
  validateSearch: known('tab'),
  component: lazyPage(() => import('./pages/operations/detail.tsx'), 'OperationPage'),
});

const reads = createRoute({
  getParentRoute: () => project,
  path: 'reads',
  validateSearch: known('status', 'groupRef', 'object', 'installationId'),
  component: lazyPage(() => import('./pages/reads/list.tsx'), 'ReadsPage'),
});
const deliveries = createRoute({
  getParentRoute: () => project,
  path: 'deliveries',
  validateSearch: known('status', 'destination', 'object', 'groupRef', 'installationId', 'operationId'),
  component: lazyPage(() => import('./pages/deliveries/list.tsx'), 'DeliveriesPage'),
});
const delivery = createRoute({
  getParentRoute: () => project,
  path: 'deliveries/$deliveryId',
  component: lazyPage(() => import('./pages/deliveries/detail.tsx'), 'DeliveryPage'),
});
const replays = createRoute({
  getParentRoute: () => project,
  path: 'replays',
  component: lazyPage(() => import('./pages/deliveries/replays.tsx'), 'ReplaysPage'),
});
const replay = createRoute({
  getParentRoute: () => project,
  path: 'replays/$replayId',
  component: lazyPage(() => import('./pages/deliveries/replay.tsx'), 'ReplayPage'),
});
const events = createRoute({
  getParentRoute: () => project,
  path: 'events',
  validateSearch: known('type', 'connectionId'),
  component: lazyPage(() => import('./pages/events/list.tsx'), 'EventsPage'),
});
const destinations = createRoute({
  getParentRoute: () => project,
  path: 'destinations',
  validateSearch: known('state'),
  component: lazyPage(() => import('./pages/destinations/list.tsx'), 'DestinationsPage'),
});
const destination = createRoute({
  getParentRoute: () => project,
  path: 'destinations/$destination',
  component: lazyPage(() => import('./pages/destinations/detail.tsx'), 'DestinationPage'),
});

const integrations = createRoute({
  getParentRoute: () => project,
  path: 'integrations',
  component: lazyPage(() => import('./pages/integrations/list.tsx'), 'IntegrationsPage'),
});
const integration = createRoute({
  getParentRoute: () => project,
  path: 'integrations/$integration',
  validateSearch: known('tab', 'revision'),
  component: lazyPage(() => import('./pages/integrations/detail.tsx'), 'IntegrationPage'),
});
const deploy = createRoute({
  getParentRoute: () => project,
  path: 'deploy',
  component: lazyPage(() => import('./pages/integrations/deploy.tsx'), 'DeployPage'),
});
const providers = createRoute({
  getParentRoute: () => project,
  path: 'providers',
  validateSearch: known('tab', 'q', 'authType', 'can'),
  component: lazyPage(() => import('./pages/providers/providers.tsx'), 'ProvidersPage'),
});
const provider = createRoute({
  getParentRoute: () => project,
  path: 'providers/$provider',
  component: lazyPage(() => import('./pages/providers/detail.tsx'), 'ProviderPage'),
});
const people = createRoute({
  getParentRoute: () => project,
  path: 'people',
  validateSearch: known('tab'),
  component: lazyPage(() => import('./pages/people/people.tsx'), 'PeoplePage'),
});
const keys = createRoute({
  getParentRoute: () => project,
  path: 'keys',
  validateSearch: known('tab'),
  component: lazyPage(() => import('./pages/keys/keys.tsx'), 'KeysPage'),
});
const audit = createRoute({
  getParentRoute: () => project,
  path: 'audit-log',
  validateSearch: known('action', 'personId', 'keyId', 'targetId', 'groupRef', 'from', 'to'),
  component: lazyPage(() => import('./pages/audit/audit.tsx'), 'AuditPage'),
});
const proxyLog = createRoute({
  getParentRoute: () => project,
  path: 'proxy-logs',
  validateSearch: known('method', 'status', 'path', 'groupRef', 'installationId', 'since', 'until'),
  component: lazyPage(() => import('./pages/proxy-logs/list.tsx'), 'ProxyLogPage'),
});
const storage = createRoute({
  getParentRoute: () => project,
  path: 'storage',
  component: lazyPage(() => import('./pages/storage/storage.tsx'), 'StoragePage'),
});
const settings = createRoute({
  getParentRoute: () => project,
  path: 'settings',
  component: lazyPage(() => import('./pages/settings/settings.tsx'), 'SettingsPage'),
});
const notifications = createRoute({
  getParentRoute: () => project,
  path: 'notifications',
  component: lazyPage(() => import('./pages/notifications/notifications.tsx'), 'NotificationsPage'),
});
const installations = createRoute({
  getParentRoute: () => project,
  path: 'installations',
  validateSearch: known('healthStatus', 'groupRef'),
  component: lazyPage(() => import('./pages/installations/list.tsx'), 'InstallationsPage'),
});
const installation = createRoute({
  getParentRoute: () => project,
  path: 'installations/$installationId',
  validateSearch: known('tab'),
  component: lazyPage(() => import('./pages/installations/detail.tsx'), 'InstallationPage'),
});
const connections = createRoute({
  getParentRoute: () => project,
  path: 'connections',
  validateSearch: known('status', 'provider', 'groupRef', 'consumerRef'),
  component: lazyPage(() => import('./pages/connections/list.tsx'), 'ConnectionsPage'),
});
const connection = createRoute({
  getParentRoute: () => project,
  path: 'connections/$connectionId',
  validateSearch: known('tab'),
  component: lazyPage(() => import('./pages/connections/detail.tsx'), 'ConnectionPage'),
});

const inProject = [
  installations,
  installation,
  connections,
  connection,
  projectStart,
  overview,
  operations,
  operation,
  reads,
  deliveries,
  delivery,
  replays,
  replay,
  events,
  destinations,
  destination,
  notifications,
  integrations,
  integration,
  deploy,
  providers,
  provider,
  people,
  keys,
  audit,
  proxyLog,
  storage,
  settings,
];

export const router = createRouter({
  routeTree: root.addChildren([
    signIn,
    welcome,
    invitation,
    reset,
    signedIn.addChildren([start, outside.addChildren([projects, account]), project.addChildren(inProject)]),
  ]),
  parseSearch,
  stringifySearch,
  // What no page knows of an address is no filter.
  search: { strict: true },
  // What is open on the page of one thing is not that of another; a project that gets another name is the same.
  defaultRemountDeps: ({ params }) => ({ ...params, project: undefined }),
  defaultPreload: 'intent',
  defaultErrorComponent: Crashed,
  scrollRestoration: true,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
