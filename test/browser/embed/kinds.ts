import { expect } from 'vitest';
import { button, isAccessible, type Walk } from './steps.ts';

interface Kind {
  integration: string;
  /** The name of the provider. */
  name: string;
  /** By label; `chosen` is picked from a list. */
  typed: Readonly<Record<string, string | { chosen: string }>>;
  /** The one that is typed wrongly first. */
  wrong: string;
  /** As the connection says it. */
  scheme: string;
  help?: string;
}

const kinds = (privateKey: string): readonly Kind[] => [
  {
    integration: 'by-client',
    name: 'Machines',
    typed: { 'Client ID': 'ours', 'Client secret': 'right', 'Scopes (optional)': 'read, write' },
    wrong: 'Client secret',
    scheme: 'oauth2/clientCredentials',
  },
  {
    integration: 'by-grant',
    name: 'Olden',
    typed: { 'User name': 'ada', Password: 'right', 'Client ID': 'ours', 'Client secret': 'right' },
    wrong: 'Password',
    scheme: 'oauth2/password',
    help: 'https://olden.example/region',
  },
  {
    integration: 'by-custom',
    name: 'Custom',
    typed: { Account: 'acme', Place: { chosen: 'Asia' }, Secret: 'right' },
    wrong: 'Secret',
    scheme: 'custom',
    help: 'https://custom.example/secret',
  },
  {
    integration: 'by-signing',
    name: 'Salesforce (JWT)',
    typed: {
      'My Domain': 'acme',
      'Consumer key': 'ours',
      'User name': 'ada@acme.example',
      // Pasted into one line, which drops its line ends.
      'Private key': privateKey,
    },
    wrong: 'Private key',
    scheme: 'custom',
  },
];

/** Client credentials, a password grant, inputs of the provider's own and a signing key: a wrong value is refused, a right one connects. */
export const everyKindTyped: Walk = async (world) => {
  for (const { integration, name, typed, wrong, scheme, help } of kinds(world.own.privateKey)) {
    const page = await world.open({ group: 'kinds', show: 'ConnectProvider', integration });
    await button(page, `Connect ${name}`).click();
    await page.getByText('Please fill this in.').first().waitFor();
    if (help !== undefined) expect(await page.locator(`a[href="${help}"]`).count()).toBe(1);
    for (const [label, value] of Object.entries(typed)) {
      const input = page.getByLabel(label, { exact: true });
      if (typeof value === 'string') await input.fill(label === wrong ? 'wrong' : value);
      else await input.selectOption(value.chosen);
    }
    await button(page, `Connect ${name}`).click();
    await page.locator('.svc-issue, [role="alert"]').first().waitFor();
    expect(await page.getByLabel(wrong, { exact: true }).inputValue()).toBe('wrong');
    await isAccessible(page);
    await page.getByLabel(wrong, { exact: true }).fill(typed[wrong] as string);
    await button(page, `Connect ${name}`).click();
    await page.getByText(`Connected to ${name}`).waitFor();
    const { body } = await world.platform.call<{ status: string; authScheme: string }[]>(
      'GET',
      `/projects/default/connections?groupRef=kinds&provider=${await providerOf(world, integration)}`,
    );
    expect(body).toMatchObject([{ status: 'working', authScheme: scheme }]);
    await page.close();
  }
};

async function providerOf({ platform }: Parameters<Walk>[0], integration: string): Promise<string> {
  const { body } = await platform.call<{ provider: string }>(
    'GET',
    `/projects/default/integrations/${integration}`,
  );
  return body.provider;
}
