import type { Route } from 'playwright-core';
import { expect } from 'vitest';
import { button, connected, heading, isAccessible, stepTo, type Walk } from './steps.ts';

/** The form is filled in by keys alone, and no required field is skipped. */
export const pickedByKeys: Walk = async (world) => {
  const page = await connected(world, 'keys-only');
  const nickname = page.getByRole('combobox', { name: 'Nickname' });
  await button(page, 'Clear Nickname').click();
  // Typing goes on where the choice was.
  await expect.poll(() => page.evaluate('document.activeElement.getAttribute("role")')).toBe('combobox');
  await page.keyboard.type('job title');
  await page.keyboard.press('Tab');
  // Nothing was chosen, so the field is empty.
  await expect.poll(() => nickname.inputValue()).toBe('');
  await button(page, 'Continue').click();
  await page.getByText('Choose a field.').waitFor();
  await heading(page, 'Contacts: fields').waitFor();
  await nickname.focus();
  await page.keyboard.type('job title');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await expect.poll(() => nickname.inputValue()).toBe('Job Title');
  // Text that is left, taken back or not found chooses nothing.
  const list = page.getByRole('listbox');
  for (const [typed, leave] of [
    ['city', () => page.keyboard.press('Escape')],
    ['city', () => heading(page, 'Contacts: fields').click()],
    ['no such field', () => page.keyboard.press('Enter').then(() => page.keyboard.press('Escape'))],
  ] as const) {
    await nickname.click();
    await nickname.click();
    await page.keyboard.press('ControlOrMeta+A');
    await page.keyboard.type(typed);
    await list.waitFor();
    await leave();
    await list.waitFor({ state: 'detached' });
    await expect.poll(() => nickname.inputValue()).toBe('Job Title');
  }
  await page.evaluate(
    `addEventListener('keydown', (event) => { window.left = [event.key, event.defaultPrevented] }, { once: true })`,
  );
  await page.keyboard.press('Escape');
  // The key is not consumed, so that a dialog around the component closes.
  expect(await page.evaluate('window.left')).toEqual(['Escape', false]);
  expect(await nickname.inputValue()).toBe('Job Title');
  await button(page, 'Continue').click();
  await heading(page, 'Companies: fields').waitFor();
};

/** The page's own styles for headings and labels do not change ours. */
export const hostStyles: Walk = async (world) => {
  const page = await connected(world, 'styled', { theme: 'dark', dir: 'rtl' });
  await page.addStyleTag({
    content:
      'h2, h3 { color: #111; text-transform: uppercase } label { text-transform: uppercase; color: #111 }',
  });
  const styleOf = async (selector: string, name: string): Promise<string> =>
    page.evaluate(`getComputedStyle(document.querySelector(${JSON.stringify(selector)})).${name}`);
  for (const selector of ['.svc h2', '.svc h3', '.svc .svc-field-label']) {
    expect(await styleOf(selector, 'color')).not.toBe('rgb(17, 17, 17)');
    expect(await styleOf(selector, 'textTransform')).toBe('none');
  }
  expect(await styleOf('.svc-picker input', 'textAlign')).toBe('right');
};

/** A link that cannot be opened now says so, and is opened on request. */
export const linkUnanswered: Walk = async (world) => {
  const { body } = await world.platform.call<{ url: string }>('POST', '/projects/default/connect-links', {
    integration: 'hubspot-crm',
    groupRef: 'unanswered',
    consumerRef: 'ada',
  });
  const page = await world.emptyPage();
  const answers: ((route: Route) => Promise<void>)[] = [
    (route) => route.abort(),
    (route) => route.fulfill({ status: 502, contentType: 'text/html', body: '<h1>Bad gateway</h1>' }),
    (route) => route.fulfill({ status: 503, json: { code: 'database-unavailable', status: 503 } }),
    (route) => route.fulfill({ status: 429, json: { code: 'rate-limited', status: 429, detail: 'Slowly.' } }),
    (route) => route.fulfill({ status: 200, contentType: 'text/html', body: '<h1>Welcome</h1>' }),
  ];
  let asked = 0;
  await page.route('**/connect-links:open', (route) => answers[asked++]?.(route) ?? route.continue());
  await page.goto(body.url);
  for (const _answer of answers) await button(page, 'Try again').click();
  await button(page, 'Connect HubSpot').waitFor();
  expect(asked).toBe(answers.length + 1);
};

/** The page says which language it speaks: the one that is asked for, else that of the browser, else English. */
export const linkSpeaks: Walk = async (world) => {
  const url = await world.link({ groupRef: 'speaks', singleUse: false });
  for (const [locale, asked, spoken, text] of [
    ['de-DE', '', 'de', 'HubSpot verbinden'],
    ['de-DE', '?language=en', 'en', 'Connect HubSpot'],
    ['de-DE', '?language=xx', 'de', 'HubSpot verbinden'],
    ['fr-FR', '', 'en', 'Connect HubSpot'],
    ['fr-FR', '?language=constructor', 'en', 'Connect HubSpot'],
  ] as const) {
    const page = await world.emptyPage({ locale });
    await page.goto(url.replace('#', `${asked}#`));
    await button(page, text).waitFor();
    const shown = await page.evaluate('[document.documentElement.lang, document.querySelector(".svc").lang]');
    expect([locale, asked, shown]).toEqual([locale, asked, [spoken, spoken]]);
  }
  // No link leads to a project that there is not.
  const page = await world.emptyPage();
  await page.goto(url.replace(/connect\/[^#]*/, 'connect/nope'));
  await heading(page, 'This link does not hold any more').waitFor();
};

/** A link that is taken back while its page is open. */
export const linkEnded: Walk = async (world) => {
  const path = '/projects/default/connect-links';
  const { body } = await world.platform.call<{ id: string; url: string }>('POST', path, {
    integration: 'hubspot-crm',
    groupRef: 'ended',
    consumerRef: 'ada',
  });
  const page = await world.emptyPage();
  // Where the logo cannot be loaded, the name is shown.
  await page.route('**/connect-links:open', async (route) => {
    const answer = await route.fetch();
    const opened = (await answer.json()) as { project: { branding: object } };
    opened.project.branding = { ...opened.project.branding, logoUrl: 'https://logo.invalid/x.png' };
    await route.fulfill({ response: answer, json: opened });
  });
  await page.goto(body.url);
  await page.getByText('Mailmonkey', { exact: true }).waitFor();
  await page.unrouteAll();
  await button(page, 'Connect HubSpot').waitFor();
  expect((await world.platform.call('DELETE', `${path}/${body.id}`)).status).toBe(204);
  await button(page, 'Connect HubSpot').click();
  await heading(page, 'This link does not hold any more').waitFor();
};

/** A link that is taken back while its form is filled in: the page says so above the form, and a new link goes on with what was entered. */
export const linkEndedInForm: Walk = async (world) => {
  const path = '/projects/default/connect-links';
  const asked = { integration: 'hubspot-crm', groupRef: 'ended-in-form', consumerRef: 'ada' };
  const { body } = await world.platform.call<{ id: string; url: string }>('POST', path, asked);
  const page = await world.emptyPage();
  await page.goto(body.url);
  await button(page, 'Connect HubSpot').click();
  await heading(page, 'What should be shared?').waitFor();
  await stepTo(page, 'Contacts');
  await page.getByRole('combobox', { name: 'Nickname' }).fill('first');
  await page.getByRole('option', { name: 'First Name' }).click();
  await stepTo(page, 'Review');
  expect((await world.platform.call('DELETE', `${path}/${body.id}`)).status).toBe(204);
  await button(page, 'Finish setup').click();
  await heading(page, 'This link does not hold any more').waitFor();
  await page.getByText('Ask whoever sent it for a new one').waitFor();
  await isAccessible(page);
  const nickname = page.getByRole('combobox', { name: 'Nickname' });
  await stepTo(page, 'Contacts');
  expect(await nickname.inputValue()).toBe('First Name');
  const url = await world.link(asked);
  await page.evaluate(`location.href = ${JSON.stringify(url)}; undefined`);
  await heading(page, 'This link does not hold any more').waitFor({ state: 'detached' });
  await stepTo(page, 'Contacts');
  expect(await nickname.inputValue()).toBe('First Name');
  await stepTo(page, 'Review');
  await button(page, 'Finish setup').click();
  await heading(page, 'All set').waitFor();
};

/** Where the builder's server gives no token, the browser's console says why. */
export const noToken: Walk = async (world) => {
  const page = await world.open({ group: 'no-token' });
  const logged: string[] = [];
  page.on('console', (message) => logged.push(message.text()));
  await button(page, 'Connect HubSpot').waitFor();
  const json = (body: object) => ({
    status: 200,
    contentType: 'application/json',
    body: JSON.stringify(body),
  });
  const claims = Buffer.from(JSON.stringify({ groupRef: 'Zoë', consumerRef: 'ada' })).toString('base64url');
  const noAccess = 'This page was given no access';
  for (const [answer, text, said] of [
    [{ status: 403, body: 'signed out' }, 'Your session has ended'],
    [json({ error: '?' }), noAccess, 'no token'],
    [{ status: 200, contentType: 'text/html', body: '<h1>Log in</h1>' }, noAccess, 'no token'],
    [json({ token: `e30.${claims}.` }), noAccess, 'a token of the groupRef Zoë, for the groupRef no-token'],
    [{ status: 503, body: 'down' }, 'Mailmonkey does not answer at present'],
  ] as const) {
    await page.route('**/token', (route) => route.fulfill(answer));
    await page.reload();
    await page.getByText(text).waitFor();
    const told = logged.filter((line) => line.includes('getToken answered'));
    expect([text, told]).toEqual([text, said === undefined ? [] : [`@svc/embed: getToken answered ${said}`]]);
    logged.length = 0;
    await page.unrouteAll();
  }
  // One that never answers.
  await page.clock.install();
  await page.route('**/token', () => undefined);
  const asked = page.waitForRequest('**/token');
  await page.reload();
  await asked;
  await page.clock.fastForward(20_000);
  await page.getByText('Mailmonkey does not answer at present').waitFor();
  await page.unrouteAll();
  await button(page, 'Try again').click();
  await button(page, 'Connect HubSpot').waitFor();
};

/** A form of the builder's own learns that there is no account yet. */
export const hooksUnconnected: Walk = async (world) => {
  const page = await world.open({ group: 'unconnected', show: 'Hooks' });
  const known = { isPending: false, isConnected: false, provider: 'hubspot', installable: false };
  await expect
    .poll(async () => JSON.parse((await page.locator('output').textContent()) ?? ''))
    .toEqual(known);
};

/** An integration that only calls the provider has nothing to choose, and says so. */
export const onlyProxy: Walk = async (world) => {
  const page = await world.open({ group: 'only-proxy', integration: 'by-key' });
  await page.getByLabel('API key').fill('right');
  await button(page, 'Connect Keyed').click();
  await page.getByText('Mailmonkey calls Keyed directly').waitFor();
  await button(page, 'Finish setup').click();
  await heading(page, 'All set').waitFor();
  await button(page, 'Change settings').click();
  await button(page, 'Uninstall').click();
  await page.getByText('The connection is removed, too').waitFor();
};

/** What a builder mistypes is told as a fault of the application; the browser's console says which prop it is. */
export const propMistyped: Walk = async (world) => {
  for (const [query, text, said] of [
    [{ integration: '' }, 'That is a fault of Mailmonkey', 'integration of <SvcProvider> is empty'],
    [{ noToken: '1' }, 'That is a fault of Mailmonkey', '<SvcProvider> has no getToken'],
    [{ integration: 'nope' }, 'That is a fault of Mailmonkey', 'there is no integration nope'],
  ] as const) {
    const page = await world.open({ group: 'mistyped', ...query });
    const logged: string[] = [];
    page.on('console', (message) => logged.push(message.text()));
    await page.reload();
    await page.getByText(text).waitFor();
    expect(await page.getByText(/TypeError|\/v1\//).count()).toBe(0);
    expect([...new Set(logged.filter((line) => line.includes('@svc/embed')))]).toEqual([
      `@svc/embed: ${said}`,
    ]);
  }
};
