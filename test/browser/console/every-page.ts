import type { ConsoleWorld } from './world.ts';

interface Listed {
  results: { id: string }[];
}

/** The paths of all pages for somebody who is signed in: lists, their tabs, and the latest thing of each kind. */
export async function everyPage({ platform, customer }: ConsoleWorld): Promise<string[]> {
  const latest = async (noun: string): Promise<string | undefined> => {
    const { body } = await platform.call<Listed | Listed['results']>('GET', `/projects/default/${noun}`);
    const [first] = Array.isArray(body) ? body : body.results;
    return first?.id;
  };
  const [operation, delivery, replay] = [
    await latest('operations'),
    await latest('deliveries'),
    await latest('replays'),
  ];
  const { installationId, connectionId } = customer;
  const inProject = [
    'overview',
    'operations',
    operation && `operations/${operation}`,
    operation && `operations/${operation}?tab=records`,
    'reads',
    'deliveries',
    delivery && `deliveries/${delivery}`,
    'replays',
    replay && `replays/${replay}`,
    'proxy-logs',
    'installations',
    `installations/${installationId}`,
    ...['config', 'reads', 'history'].map((tab) => `installations/${installationId}?tab=${tab}`),
    'connections',
    `connections/${connectionId}`,
    ...['events', 'installations', 'logs'].map((tab) => `connections/${connectionId}?tab=${tab}`),
    'events',
    'destinations',
    'destinations/d',
    'notifications',
    'integrations',
    'integrations/hubspot-crm',
    'integrations/hubspot-crm?tab=revisions',
    'deploy',
    'providers',
    'providers?tab=apps',
    'providers/hubspot',
    'keys',
    'keys?tab=public',
    'people',
    'people?tab=invitations',
    'audit-log',
    'storage',
    'settings',
  ].filter((path) => path !== undefined);
  return ['/projects', '/account', ...inProject.map((path) => `/projects/default/${path}`)];
}
