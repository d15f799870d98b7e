import { globSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newBrowser } from '../../simulator/browser.ts';
import { fault, type ProblemBody } from '../customer.ts';
import { createTestDatabase, type TestDatabase } from '../database.ts';
import { startPlatform, type Platform } from '../platform.ts';
import { blocksIn, type Block } from './blocks.ts';
import { readAlong, type Preparation } from './reader.ts';
import { looks } from './sound.ts';

async function registerSalesforce(platform: Platform): Promise<void> {
  const app = {
    provider: 'salesforce',
    clientId: 'client',
    clientSecret: 'secret',
    scopes: ['api', 'refresh_token'],
  };
  expect((await platform.call('POST', '/projects/default/provider-apps', app)).status).toBe(200);
}

async function openLinks(printed: string): Promise<void> {
  const links = printed.split(/(?=http:)/);
  expect(links).toHaveLength(2);
  for (const link of links) expect((await newBrowser().open(link.trim())).status).toBe(200);
}

/** The id of a write whose outcome nobody knows. */
async function unknownCompanies(platform: Platform): Promise<{ ID: string }> {
  await fault(platform.hubspot, {
    method: 'POST',
    path: '/companies/batch',
    fault: { kind: 'reset-before' },
  });
  const { body } = await platform.call<{ operationId: string }>(
    'POST',
    '/write/v1/projects/default/integrations/hubspot-crm/objects/companies',
    { groupRef: 'acme', type: 'create', batch: [{ record: { name: 'One' } }, { record: { name: 'Two' } }] },
  );
  return { ID: body.operationId };
}

async function makeInbox(platform: Platform): Promise<void> {
  const metadata = { url: 'https://app.example.com/hooks/svc' };
  const inbox = { name: 'inbox', type: 'webhook', metadata };
  expect((await platform.call('POST', '/projects/default/destinations', inbox)).status).toBe(201);
}

/** The guides and recipes in the order in which one reads them, each with what its reader does besides its commands. */
const guides: Record<string, { by?: (platform: Platform) => Preparation; said: RegExp }> = {
  'docs/guides/calling.md': { said: /"allowedOrigins":\["https:\/\/app\.example\.com"\]/ },
  'docs/guides/destinations.md': { said: /"webhookSigningKey":"whsec_/ },
  'docs/guides/connect.md': {
    by: (platform) => ({
      before: { Connect: () => registerSalesforce(platform) },
      after: { Connect: openLinks },
    }),
    said: /"selectedFields":\{"email":true\}/,
  },
  'docs/guides/embed.md': { said: /\/connect\/[0-9a-f-]+#[^]*"token":"svcf_/ },
  'docs/guides/read.md': { said: /"operationId":/ },
  'docs/guides/write.md': {
    by: (platform) => ({ before: { Operations: () => unknownCompanies(platform) } }),
    said: /"recordId":"\d+"[^]*"resolution":"applied"[^]*"operationId"/,
  },
  'docs/guides/proxy.md': { said: /"results":\[\{/ },
  'docs/guides/notifications.md': {
    by: (platform) => ({ before: { 'Which events are told, and where': () => makeInbox(platform) } }),
    said: /write\.async\.done/,
  },
  'docs/recipes/sync-both-ways.md': { said: /"operationId":/ },
  'docs/recipes/from-nango.md': {
    by: (platform) => ({ before: { 'Move the connections': () => foreignToken(platform) } }),
    said: /"groupRef":"globex"[^]*"results"/,
  },
  'docs/recipes/from-ampersand.md': {
    by: (platform) => ({ before: { 'Move the connections': () => foreignToken(platform) } }),
    said: /"groupRef":"initech"/,
  },
  'docs/recipes/from-your-own-code.md': { said: /"idempotentReplay|"success":true/ },
};

/** Pages whose commands other tests run. */
const elsewhere: Record<string, { test: string; by: RegExp }> = {
  'docs/quickstart.md': { test: 'test/pages/quickstart.test.ts', by: /page = 'docs\/quickstart\.md'/ },
  'docs/guides/samples.md': {
    test: 'test/journeys/samples.test.ts',
    by: /page = 'docs\/guides\/samples\.md'/,
  },
  'ui/client/README.md': { test: 'ui/client/test/package.test.ts', by: /readFile\(join\(home, 'README\.md'/ },
  'README.md': { test: 'test/journeys/commands.test.ts', by: /run\(\['scripts\/demo\/main\.ts', '--exit'\]/ },
  'docs/operating.md': { test: 'test/restore/copy.test.ts', by: /operate\([^)]*'restore', 'resume'/ },
  'docs/cli.md': { test: 'src/cli/nouns.test.ts', by: /'reconnect'/ },
  'docs/guides/people.md': { test: 'test/journeys/people-links.test.ts', by: /'people', 'reset'/ },
};

/** Commands that are followed by a verb. */
const nouns = /^(operations|deliveries|connections)$/;

const pages = globSync(['README.md', 'docs/**/*.md', 'ui/client/README.md']).map((path) =>
  path.replaceAll('\\', '/'),
);
/** A refresh token of `acme`, as another platform has it. */
async function foreignToken(platform: Platform): Promise<{ REFRESH: string }> {
  const path = '/projects/default/connections';
  const [found] = (await platform.call<{ id: string }[]>('GET', `${path}?groupRef=acme&provider=hubspot`))
    .body;
  const { body } = await platform.call<{ oauth2AuthorizationCode?: { refreshToken: string } }>(
    'GET',
    `${path}/${found?.id}?includeRefreshToken=true`,
  );
  return { REFRESH: JSON.stringify(body).match(/"refreshToken":(?:\{[^}]*"token":)?"([^"]+)"/)?.[1] ?? '' };
}

/** The blocks that no test follows. */
const besides = pages.flatMap((page) =>
  blocksIn(page)
    .filter(({ language }) => language !== 'sh')
    .filter(({ language }) => !(page in elsewhere && /^(bash|ts|js|python)$/.test(language)))
    .map(({ language, line, text }) => ({ page, language, line, text })),
);
const isCommand = ({ language }: Block): boolean => language === 'sh' || language === 'bash';

describe('test/pages/pages', () => {
  let test: TestDatabase;
  let platform: Platform;
  beforeAll(async () => {
    test = await createTestDatabase();
    platform = await startPlatform({ databaseUrl: test.url });
  });
  afterAll(async () => {
    await platform?.stop();
    await test?.drop();
  });

  it('every page with commands is followed by a test', () => {
    const withCommands = pages.filter((page) => blocksIn(page).some(isCommand));
    expect(withCommands.filter((page) => !(page in guides) && !(page in elsewhere))).toEqual([]);
  });

  it.each(Object.entries(elsewhere))('the test that follows %s is there', async (_, { test: path, by }) => {
    expect(await readFile(path, 'utf8')).toMatch(by);
  });

  it('each command of the page on the command line is run by a test', async () => {
    const tests = await Promise.all(globSync('src/cli/**/*.test.ts').map((path) => readFile(path, 'utf8')));
    const words = blocksIn('docs/cli.md')
      .filter(isCommand)
      .flatMap(({ text }) => Array.from(text.matchAll(/\bsvc ([a-z]+)(?: ([a-z]+)(?= |$))?/gm)))
      .map(([, noun = '', verb]) => ({ noun, verb: nouns.test(noun) ? verb : undefined }));
    expect(words.length).toBeGreaterThan(8);
    const isRun = ({ noun, verb }: (typeof words)[number]): boolean =>
      tests.some((text) => text.includes(verb === undefined ? `'${noun}'` : `'${noun}', '${verb}'`));
    expect(words.filter((one) => !isRun(one))).toEqual([]);
  });

  it.each(besides)('what $page shows in line $line is sound', async ({ language, text }) => {
    const look = looks[language];
    expect(look, `nothing looks at "${language}"; test/pages/sound.ts says what does`).toBeDefined();
    await look?.(text, test.url);
  });

  it.each(Object.entries(guides))(
    'whoever follows %s gets what it says',
    async (page, { by, said }) => {
      expect(await readAlong(page, platform, by?.(platform) ?? {})).toMatch(said);
    },
    60_000,
  );

  it('what was read by the guide to reading is delivered', async () => {
    const list = '/projects/default/deliveries?destination=crm-updates';
    await expect
      .poll(async () => (await platform.call('GET', list)).text, { timeout: 20_000 })
      .toContain('"objectName":"contacts"');
  });

  it('Salesforce is connected without its workspace, too', async () => {
    const started = await platform.call('POST', '/oauth-connect', {
      projectIdOrName: 'default',
      provider: 'salesforce',
      groupRef: 'no-workspace',
      consumerRef: 'ada',
    });
    expect((await newBrowser().open(started.text)).status).toBe(200);
    const path = '/projects/default/connections';
    const [made] = (await platform.call<{ id: string }[]>('GET', `${path}?groupRef=no-workspace`)).body;
    const renewed = await platform.call('GET', `${path}/${made?.id}?refresh=force`);
    expect([renewed.status, renewed.body['status']]).toEqual([200, 'created']);
  });

  it('a caller who sends a name where the proxy needs the id is told where the id is', async () => {
    const answer = await fetch(`${platform.proxy}/crm/v3/objects/contacts`, {
      headers: {
        'x-api-key': platform.apiKey,
        'x-svc-proxy-version': '1',
        'x-svc-project-id': 'default',
        'x-svc-integration-name': 'hubspot-crm',
        'x-svc-group-ref': 'acme',
      },
    });
    const { detail } = (await answer.json()) as ProblemBody;
    expect([answer.status, detail]).toEqual([400, expect.stringMatching(/not its name; GET \/v1\/projects/)]);
  });
});
