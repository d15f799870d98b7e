import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createHarness } from '../harness.fixture.ts';

/**
 * Atlassian as its file says it: a refresh token `<family>-<n>` works once, and its tokens open the family's site. And Linear,
 * which is not told which account is meant, and says it.
 */
async function startJira() {
  const uses = new Map<string, number>();
  const sites = {
    status: 200,
    of: new Map<string, string>(),
    /** The id of a site. */
    idOf: (site: string) => `cloud-${site}`,
    /** Before it is answered whose the tokens are. */
    onAsked: () => Promise.resolve(),
  };
  const tokens = (refreshToken: string): [number, object] => {
    const [family = '', n = ''] = refreshToken.split('-');
    const used = uses.get(family) ?? 0;
    if (used !== Number(n))
      return [403, { error: 'unauthorized_client', error_description: 'refresh_token is invalid' }];
    uses.set(family, used + 1);
    const refresh_token = `${family}-${used + 1}`;
    return [200, { access_token: `at-${family}`, refresh_token, expires_in: 3_600 }];
  };
  const opened = (authorization = ''): [number, object] => {
    const site = sites.of.get(authorization.split('-')[1] ?? '');
    const url = `https://${site}.atlassian.net`;
    return [sites.status, sites.status === 200 && site ? [{ id: sites.idOf(site), url }] : []];
  };
  const named = (authorization = ''): [number, object] => {
    const id = sites.of.get(authorization.split('-')[1] ?? '');
    return [
      sites.status,
      sites.status === 200 ? { data: { organization: { id }, viewer: { id: 'ada' } } } : {},
    ];
  };
  const server: Server = createServer((request, response) => {
    void (async () => {
      let form = '';
      for await (const chunk of request) form += String(chunk);
      const isToken = request.url === '/oauth/token';
      if (!isToken) await sites.onAsked();
      const [status, body] = isToken
        ? tokens(new URLSearchParams(form).get('refresh_token') ?? '')
        : (request.url === '/graphql' ? named : opened)(request.headers.authorization);
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, sites, close: () => new Promise((resolve) => server.close(resolve)) };
}

/** Them, and a project that has an app of each. */
export async function withJira() {
  const provider = await startJira();
  const harness = await createHarness({ jira: provider.url, linear: provider.url });
  for (const name of ['jira', 'linear']) {
    const app = { provider: name, clientId: 'id', clientSecret: 'secret', scopes: ['one'] };
    await harness.projects.providerApps.create(harness.projectId, app);
  }
  return {
    provider,
    harness,
    close: async (): Promise<void> => {
      await harness.close();
      await provider.close();
    },
  };
}
