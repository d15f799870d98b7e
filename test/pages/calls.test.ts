import { describe, expect, it } from 'vitest';
import { callsIn, routeOf } from './calls.ts';

const saidIn = (page: string): string[] => callsIn(page).map(({ said }) => said.slice(`${page}: `.length));

describe('test/pages/calls', () => {
  it('calls are found in commands, in forms, in tables and in sentences', () => {
    expect(saidIn('docs/guides/connect.md')).toEqual(
      expect.arrayContaining([
        'PUT /v1/projects/$P/integrations:batch',
        'POST /v1/oauth-connect',
        'GET /v1/projects/$P/integrations/hubspot-crm/installations',
        'PATCH …/provider-apps/{providerAppId}',
      ]),
    );
    expect(saidIn('docs/guides/notifications.md')).toContain('POST …/topics');
    expect(saidIn('docs/guides/destinations.md')).toEqual(
      expect.arrayContaining(['GET …/replays/{id}', 'POST :rotate']),
    );
    expect(saidIn('docs/guides/write.md')).toContain('GET …/logs');
  });

  it('what only a person who has signed in can call is left out', () => {
    expect(saidIn('docs/guides/people.md').join('\n')).not.toMatch(/session|second-factor/);
  });

  it('the guides name no call that the API does not have', () => {
    const pages = ['connect', 'destinations', 'notifications', 'people', 'proxy', 'read', 'write'];
    const calls = new Map(pages.map((name) => [name, callsIn(`docs/guides/${name}.md`)]));
    expect(pages.filter((name) => calls.get(name)?.length === 0)).toEqual([]);
    expect([...calls.values()].flat().filter(({ routes }) => routes.length === 0)).toEqual([]);
  });

  it('a request has the route that the API gives it', () => {
    const at = '/v1/projects/{projectIdOrName}';
    expect(routeOf('POST', '/v1/projects/default/deliveries/one:retry')).toBe(
      `POST ${at}/deliveries/{deliveryId}:retry`,
    );
    expect(routeOf('GET', '/v1/projects/default/deliveries?status=failed')).toBe(`GET ${at}/deliveries`);
    expect(routeOf('GET', '/v1/projects/default/nothing')).toBeUndefined();
  });
});
