import { expect } from 'vitest';
import { barriers, type Walk } from './world.ts';

/** A manifest with a fault is marked at its line; without one it is deployed, and the revisions tell what it changed. */
export const deployedFromTheEditor: Walk = async ({ open, platform }) => {
  const page = await open('/projects/default/integrations');
  await page.getByRole('link', { name: 'Deploy a manifest' }).click();
  const deploy = page.getByRole('button', { name: 'Deploy', exact: true });
  const cannot = (why: string): Promise<void> => deploy.and(page.getByTitle(why)).waitFor();
  await page.getByText('As it is').first().waitFor();
  await cannot('It is deployed already');
  const editor = page.getByRole('textbox', { name: 'Manifest' });
  const text = (provider: string): string =>
    `specVersion: 1.0.0\nintegrations:\n  - name: hubspot-crm\n    provider: ${provider}\n    proxy: { enabled: true }\n`;
  // Replaces all text at once: typed into coloured text it would take a style, which the policy reports.
  const write = async (all: string): Promise<void> => {
    await editor.focus();
    await page.keyboard.press('ControlOrMeta+a');
    await page.keyboard.insertText(all);
  };
  const contentNamed = async (displayName?: string): Promise<object> => {
    const path = '/projects/default/integrations/hubspot-crm';
    const { body } = await platform.call<{ latestRevision: { content: object } }>('GET', path);
    return { ...body.latestRevision.content, ...(displayName === undefined ? {} : { displayName }) };
  };
  await write(text('hubspott'));
  const faults = page.getByRole('region', { name: 'What a deploy changes' }).getByRole('alert');
  await faults.getByText('Line 4').first().waitFor();
  expect(await faults.textContent()).toContain('integrations[0].provider');
  expect(await page.locator('.editor .cm-lint-marker-error').count()).toBe(1);
  await cannot('Mend what is wrong first');
  expect(await barriers(page)).toEqual([]);
  await write(text('hubspot'));
  await page.getByText('− read.contacts').waitFor();
  const touched = page.getByRole('region', { name: 'What it means to installations of hubspot-crm' });
  await touched.getByRole('listitem').filter({ hasText: 'Writes of contacts go on as they were' }).waitFor();
  expect(await touched.getByRole('link', { name: 'acme', exact: true }).count()).toBeGreaterThan(0);
  expect(await barriers(page)).toEqual([]);
  await platform.call('PUT', '/projects/default/integrations:batch', {
    sourceYaml: JSON.stringify({
      specVersion: '1.0.0',
      integrations: [await contentNamed('By a colleague')],
    }),
  });
  await deploy.click();
  const asked = page.getByRole('dialog', { name: 'Somebody else deployed meanwhile' });
  expect(await asked.textContent()).toContain('hubspot-crm was deployed since this text was begun');
  expect(await barriers(page)).toEqual([]);
  await asked.getByRole('button', { name: 'Cancel' }).click();
  expect(await contentNamed()).toHaveProperty('displayName', 'By a colleague');
  await deploy.click();
  await asked.getByRole('button', { name: 'Deploy over it' }).click();
  await page.getByText('Deployed', { exact: true }).waitFor();
  await page.getByText('As it is').first().waitFor();
  await page.goto(new URL('/projects/default/integrations/hubspot-crm?tab=revisions', page.url()).href);
  await page.locator('.editor .cm-deletedChunk').first().waitFor();
  expect(await page.getByRole('list', { name: 'Revisions' }).getByRole('listitem').count()).toBe(3);
  expect(await barriers(page)).toEqual([]);
  await page.close();
};

/** A key is shown once, lets a program in, and does so no more once it is deleted. */
export const keyMadeAndDeleted: Walk = async ({ open, platform }) => {
  const page = await open('/projects/default/keys');
  await page.getByRole('button', { name: 'New API key' }).click();
  await page.getByRole('button', { name: 'Make the key' }).click();
  await page.locator('.field-issue').first().waitFor();
  await page.getByLabel('Label').fill('walked');
  await page.getByRole('checkbox', { name: 'Read', exact: true }).check();
  await page.getByRole('button', { name: 'Make the key' }).click();
  const key = (await page.getByRole('region', { name: 'Key' }).textContent()) ?? '';
  const look = async (): Promise<number> =>
    (await platform.call('GET', '/projects/default', undefined, { key })).status;
  expect(await look()).toBe(200);
  await page.getByRole('button', { name: 'I have copied it' }).click();
  expect(await page.content()).not.toContain(key);
  await page.getByRole('button', { name: 'Actions of walked' }).click();
  await page.getByRole('menuitem', { name: 'Delete …' }).click();
  await page.getByRole('button', { name: 'Delete the key' }).click();
  await page.getByText('Deleted', { exact: true }).waitFor();
  expect(await look()).toBe(401);
  expect(await barriers(page)).toEqual([]);
  await page.close();
};

/** The audit log names who deployed the manifest, made the key and deleted it. */
export const auditTellsIt: Walk = async ({ open }) => {
  const page = await open('/projects/default/audit-log');
  for (const [action, who] of [
    ['API key deleted', 'ada@example.com'],
    ['API key created', 'ada@example.com'],
    ['Manifest deployed', 'ada@example.com'],
  ]) {
    const row = page.getByRole('row', { name: new RegExp(`${action}.*${who}`) });
    await row.first().waitFor();
  }
  expect(await barriers(page)).toEqual([]);
  await page
    .getByRole('button', { name: /^API key created/ })
    .first()
    .click();
  const told = page.getByRole('dialog');
  await told.getByRole('cell', { name: 'Scopes', exact: true }).waitFor();
  await told.getByRole('cell', { name: 'walked' }).waitFor();
  expect(await barriers(page)).toEqual([]);
  await page.keyboard.press('Escape');
  await page.getByRole('combobox', { name: 'What: Any' }).click();
  await page.getByRole('option', { name: 'API key deleted' }).click();
  await page.waitForURL('**/audit-log?action=apiKey.deleted');
  await page
    .getByRole('row', { name: /Manifest deployed/ })
    .first()
    .waitFor({ state: 'detached' });
  await page.close();
};

const ada = 'ada@example.com';

/** What the walks before did, by whom: by the first user in the browser, by those they let in, or by the key of the program. */
const done: readonly [action: string, who: string][] = [
  ['Invitation created', ada],
  ['Member joined', 'grace@example.com'],
  ['Member updated', 'API key'],
  ['Member removed', 'API key'],
  ['Manifest deployed', ada],
  ['Integration revised', ada],
  ['Operation retried', ada],
  ['Operation retried', 'sam@roles.example'],
  ['Operation resolved', ada],
  ['Replay started', ada],
  ['Read paused', ada],
  ['Read resumed', ada],
  ['Installation updated', ada],
  ['Connect link created', ada],
  ['Destination created', ada],
  ['Destination tested', ada],
  ['Destination rotated', ada],
  ['Secrets of a destination shown', ada],
  ['Secrets of a destination shown', 'dora@roles.example'],
  ['Notifications changed', ada],
  ['API key created', ada],
  ['API key deleted', ada],
];

/** The audit log has all that the walks did, with who did it, and no secret. */
export const auditTellsAllOfIt: Walk = async ({ open }) => {
  const page = await open('/projects/default/audit-log');
  // So high that no row is left out.
  await page.setViewportSize({ width: 1_360, height: 12_000 });
  await page.getByRole('row').nth(2).waitFor();
  const missing = async (): Promise<string[]> => {
    const rows = await page.getByRole('row').allInnerTexts();
    return done
      .filter(([action, who]) => !rows.some((row) => row.includes(action) && row.includes(who)))
      .map(([action, who]) => `${action} by ${who}`);
  };
  await expect.poll(missing, { timeout: 10_000 }).toEqual([]);
  expect(await page.getByText(/whsec_|svc_[0-9a-z]{8,32}_/).count()).toBe(0);
  await page.close();
};

const pages: readonly [path: string, heading: string][] = [
  ['providers?q=hubspot', 'Providers'],
  ['providers?tab=apps', 'Providers'],
  ['providers/hubspot', 'HubSpot'],
  ['integrations', 'Integrations'],
  ['keys?tab=public', 'Keys'],
  ['people', 'People'],
  ['people?tab=invitations', 'People'],
  ['proxy-logs', 'Proxy log'],
  ['storage', 'Storage and retention'],
  ['settings', 'Settings'],
];

/** axe finds no barrier on the other pages of a project. */
export const openToAll: Walk = async ({ open, platform }) => {
  const page = await open('/projects/default/keys');
  for (const [path, heading] of pages) {
    await page.goto(`${platform.base}/projects/default/${path}`);
    await page.getByRole('heading', { name: heading, level: 1 }).waitFor();
    await page.getByRole('status', { name: 'Loading' }).waitFor({ state: 'detached' });
    expect([path, await barriers(page)]).toEqual([path, []]);
  }
  await page.close();
};
