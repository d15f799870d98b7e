/** One group with a connection and an installation of the integration `crm`. */
export interface Installed {
  groupRef: string;
  connectionId: string;
  installationId: string;
}

/** Tokens of the provider for one group. */
export interface GroupTokens {
  groupRef: string;
  accessToken: string;
}

/** What an integration does with the provider's objects, in its manifest and in a config. */
export interface Actions {
  manifest: object;
  config: object;
}

/** These objects may be written. */
export function writes(objects: readonly string[]): Actions {
  return {
    manifest: { write: { objects: objects.map((objectName) => ({ objectName })) } },
    config: { write: { objects: { contacts: { objectName: 'contacts' } } } },
  };
}

const manifestOf = ({ manifest }: Actions): string =>
  JSON.stringify({
    specVersion: '1.0.0',
    integrations: [{ name: 'crm', provider: 'hubspot', ...manifest, proxy: { enabled: true } }],
  });

/** Deploys the integration and installs it for each group. */
export async function install(
  call: Call,
  actions: Actions,
  groups: readonly GroupTokens[],
): Promise<{ projectId: string; installed: Installed[] }> {
  const [project] = await call<{ id: string }[]>('GET', '/v1/projects');
  const at = `/v1/projects/${project?.id}`;
  await call('PUT', `${at}/integrations:batch`, { sourceYaml: manifestOf(actions) });
  await call('POST', `${at}/provider-apps`, {
    provider: 'hubspot',
    clientId: 'a',
    clientSecret: 'b',
    scopes: ['oauth'],
  });
  const installed: Installed[] = [];
  for (const group of groups) installed.push(await installFor(call, at, group, actions));
  return { projectId: project?.id ?? '', installed };
}

/** Calls the API; throws when it answers with no success. */
export type Call = <Body>(method: string, path: string, body?: unknown) => Promise<Body>;

export function callWith(base: string, apiKey: string): Call {
  return async <Body>(method: string, path: string, body?: unknown): Promise<Body> => {
    const answer = await fetch(base + path, {
      method,
      headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
    return (text === '' ? undefined : JSON.parse(text)) as Body;
  };
}

async function installFor(
  call: Call,
  at: string,
  { groupRef, accessToken }: GroupTokens,
  { config }: Actions,
): Promise<Installed> {
  const connection = await call<{ id: string }>('POST', `${at}/connections:generate`, {
    provider: 'hubspot',
    groupRef,
    consumerRef: 'c',
    // Given, it is not asked for at the provider.
    providerWorkspaceRef: '1',
    oauth2AuthorizationCode: {
      accessToken: { token: accessToken, expiresAt: '2099-01-01T00:00:00Z' },
      refreshToken: { token: 'refresh' },
      scopes: ['oauth'],
    },
  });
  const installation = await call<{ id: string }>(
    'POST',
    `${at}/integrations/crm/installations?skipSampling=true`,
    { groupRef, config: { content: { provider: 'hubspot', ...config } } },
  );
  return { groupRef, connectionId: connection.id, installationId: installation.id };
}
