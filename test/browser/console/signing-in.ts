import { Secret, TOTP } from 'otpauth';
import type { BrowserContext } from 'playwright-core';
import { expect } from 'vitest';
import { barriers, enterAs, first, type ConsoleWorld } from './world.ts';

/** Signs in with the wrong password and the right one, is led back to where one wanted to go, and out again. */
export async function inAndOut({ open, stranger, welcome }: ConsoleWorld): Promise<void> {
  const context = await stranger();
  const page = await open('/projects/default/operations?status=success', context);
  await page.waitForURL('**/sign-in?**');
  await page.getByRole('heading', { name: 'Sign in to svc' }).waitFor();
  expect(await barriers(page)).toEqual([]);
  await page.getByLabel('E-mail').fill(first.email);
  await page.getByLabel('Password').fill('not the password');
  await page.keyboard.press('Enter');
  await page.getByRole('alert').waitFor();
  expect(await barriers(page)).toEqual([]);
  await page.getByLabel('Password').fill(first.password);
  await page.keyboard.press('Enter');
  await page.waitForURL('**/projects/default/operations?status=success');
  await page.getByRole('heading', { name: 'Operations', level: 1 }).waitFor();
  await page.goto(`${new URL(page.url()).origin}/account`);
  await page.getByText(first.email).first().waitFor();
  expect(await barriers(page)).toEqual([]);
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.waitForURL('**/sign-in');
  // The link of the first start holds once.
  await page.goto(welcome);
  await page.getByRole('heading', { name: 'This link cannot be used' }).waitFor();
  expect(await barriers(page)).toEqual([]);
  await context.close();
}

/** When the session ends in the middle of a form, one signs in above it, and nothing typed is lost. */
export async function againAboveAForm({ open, stranger }: ConsoleWorld): Promise<void> {
  const context = await stranger();
  const page = await open('/sign-in?returnTo=%2Fprojects', context);
  await page.getByLabel('E-mail').fill(first.email);
  await page.getByLabel('Password').fill(first.password);
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'New project' }).click();
  await page.getByLabel('Name', { exact: true }).fill('typed-with-care');
  expect(await barriers(page)).toEqual([]);
  await context.clearCookies();
  await page.getByRole('button', { name: 'Make the project' }).click();
  const again = page.getByRole('dialog', { name: 'Sign in again' });
  const behind = page.locator('form').filter({ hasText: 'Make the project' });
  await behind.getByText('Your session has ended.').waitFor();
  expect(await page.locator('body').textContent()).not.toContain('X-Api-Key');
  await again.getByLabel('Password').fill(first.password);
  expect(await barriers(page)).toEqual([]);
  await again.getByRole('button', { name: 'Sign in' }).click();
  await again.waitFor({ state: 'hidden' });
  expect(await page.getByRole('alert').count()).toBe(0);
  expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('typed-with-care');
  await page.getByRole('button', { name: 'Make the project' }).click();
  await page.getByRole('heading', { name: 'typed-with-care is there' }).waitFor();
  expect(await barriers(page)).toEqual([]);
  await page.getByRole('link', { name: 'To the project' }).click();
  await page.waitForURL('**/projects/typed-with-care/**');
  await context.close();
}

/** Another person who signs in above the page of one whose session has ended begins anew: with their own rights, and nothing of the other's. */
export async function anotherAbove(world: ConsoleWorld): Promise<void> {
  const { context } = await enterAs(world, 'owner', 'before@above.example');
  const other = await enterAs(world, 'viewer', 'after@above.example');
  await other.context.close();
  const page = await world.open('/projects/default/keys', context);
  await page.getByRole('button', { name: 'New API key' }).click();
  await page.getByLabel('Label').fill('of the other');
  await context.clearCookies();
  const again = page.getByRole('dialog', { name: 'Sign in again' });
  // The first request that is refused opens the dialog: that for the key, or that for the list behind the form.
  const click = page.getByRole('button', { name: 'Make the key' }).click();
  await Promise.race([click, again.waitFor()]);
  click.catch(() => undefined);
  await again.getByLabel('E-mail').fill('after@above.example');
  await again.getByLabel('Password').fill(first.password);
  await again.getByRole('button', { name: 'Sign in' }).click();
  await again.waitFor({ state: 'hidden' });
  await page.locator('button[aria-disabled]', { hasText: 'New API key' }).waitFor();
  expect(await page.getByRole('dialog').count()).toBe(0);
  await page.getByRole('button', { name: 'Account: A viewer' }).waitFor();
  await context.close();
}

/** The page says that the server is away, and goes on once it is back. */
export async function serverAway({ platform, customer, open }: ConsoleWorld): Promise<void> {
  await customer.write('contacts', { type: 'create', record: { email: 'before@away.example' } });
  const page = await open('/projects/default/operations');
  await page.getByRole('heading', { name: 'Operations', level: 1 }).waitFor();
  const gone = platform.restart('SIGKILL');
  await page.getByPlaceholder('Object').fill('contacts');
  const banner = page.getByText('This page goes on by itself');
  await banner.waitFor();
  await gone;
  await banner.waitFor({ state: 'hidden' });
  await page.getByRole('row').nth(1).waitFor();
  await page.close();
}

/** The page says so without a click, too. One whose code is not loaded yet opens once the server is back, without a reload. */
export async function awayWhileIdle(world: ConsoleWorld): Promise<void> {
  const { platform, open } = world;
  const { context } = await enterAs(world, 'viewer', 'idle@roles.example');
  const page = await open('/projects/default/operations', context);
  await page.getByRole('row').nth(1).waitFor();
  await page.evaluate('window.isSame = true');
  platform.process().kill('SIGKILL');
  const banner = page.getByText('This page goes on by itself');
  await banner.waitFor();
  await page.getByRole('link', { name: 'Events', exact: true }).click();
  await page.waitForURL('**/events');
  await expect.poll(() => banner.isVisible()).toBe(true);
  await platform.restart();
  await page.getByRole('heading', { name: 'Events', level: 1 }).waitFor();
  await banner.waitFor({ state: 'hidden' });
  expect(await page.evaluate('window.isSame')).toBe(true);
  await context.close();
}

/** A second factor is set up by its secret, asked for at the next sign-in, and taken away again. */
export async function secondFactor({ open, stranger }: ConsoleWorld): Promise<void> {
  const page = await open('/account');
  await page.getByRole('button', { name: 'Add a second factor' }).click();
  await page.getByLabel('Password').fill('not the password');
  await page.getByRole('button', { name: 'Go on' }).click();
  await page.getByText(/do not belong together/).waitFor();
  expect(await barriers(page)).toEqual([]);
  await page.getByLabel('Password').fill(first.password);
  await page.getByRole('button', { name: 'Go on' }).click();
  await page.getByRole('img', { name: /QR code/ }).waitFor();
  expect(await barriers(page)).toEqual([]);
  const secret = (await page.getByRole('region', { name: 'Secret' }).textContent()) ?? '';
  const code = (): string => new TOTP({ secret: Secret.fromBase32(secret) }).generate();
  // As many apps show it.
  await page.getByLabel('Code that the app shows').fill(code().replace(/^.../, '$& '));
  await page.getByRole('button', { name: 'Add it' }).click();
  const codes = await page.getByRole('region', { name: 'Recovery codes' }).textContent();
  const [recovery = ''] = codes?.split('\n') ?? [];
  expect(await barriers(page)).toEqual([]);
  await page.getByRole('button', { name: 'I have kept them' }).click();
  const context = await stranger();
  const other = await open('/sign-in?returnTo=%2Faccount', context);
  await other.getByLabel('E-mail').fill(first.email);
  await other.getByLabel('Password').fill(first.password);
  await other.keyboard.press('Enter');
  await other.getByLabel('Code', { exact: true }).fill(recovery);
  expect(await barriers(other)).toEqual([]);
  await other.keyboard.press('Enter');
  await other.getByRole('heading', { name: 'Account' }).waitFor();
  await page.reload();
  await page.getByRole('button', { name: 'Remove the second factor' }).click();
  await page.getByLabel('Password').fill(first.password);
  await page.getByRole('button', { name: 'Remove it' }).click();
  await page.getByRole('button', { name: 'Add a second factor' }).waitFor();
  // One session ends the other.
  await page.getByRole('button', { name: 'End it' }).first().click();
  await page.getByRole('button', { name: 'End it' }).first().waitFor({ state: 'hidden' });
  await other.reload();
  await other.waitForURL('**/sign-in?**');
  await context.close();
  await page.close();
}

/** An owner invites somebody, who chooses a password by the link, and sees what a viewer may do. */
export async function invitedByALink({ open, stranger }: ConsoleWorld): Promise<void> {
  const page = await open('/projects/default/people');
  await page.getByRole('button', { name: 'Invite' }).click();
  await page.getByLabel('E-mail').fill('grace@example.com');
  await page.getByRole('combobox', { name: 'Role' }).click();
  await page.getByRole('option', { name: 'Viewer' }).click();
  await page.getByRole('button', { name: 'Make the link' }).click();
  const link = (await page.getByRole('region', { name: 'Link' }).textContent()) ?? '';
  expect(await barriers(page)).toEqual([]);
  await page.getByRole('button', { name: 'I have copied it' }).click();
  const context = await stranger();
  const theirs = await context.newPage();
  await theirs.goto(link.trim());
  await theirs.getByRole('heading', { name: /^Join / }).waitFor();
  await theirs.getByLabel('Name').fill('Grace Hopper');
  await theirs.getByLabel('Password').fill(first.password);
  expect(await barriers(theirs)).toEqual([]);
  await theirs.getByRole('button', { name: 'Go on' }).click();
  await theirs.waitForURL('**/projects/default/**');
  const address = new URL(theirs.url()).origin;
  await theirs.goto(`${address}/projects/default/people`);
  expect(await theirs.getByRole('button', { name: 'Invite' }).getAttribute('aria-disabled')).toBe('true');
  await page.reload();
  await page.getByRole('row').filter({ hasText: 'grace@example.com' }).getByText('Viewer').first().waitFor();
  await context.close();
  await page.close();
}

/** Somebody who was invited signs in at the OpenID provider, and comes back to the page that they asked for. */
export async function signedInElsewhere({
  platform,
  elsewhere,
  open,
  stranger,
}: ConsoleWorld): Promise<void> {
  elsewhere.accounts['mary'] = { email: 'mary@example.com', email_verified: true, name: 'Mary Jackson' };
  const context = await stranger();
  // The page of the provider asks for a font that is not there.
  await context.route('https://fonts.googleapis.com/**', (route) => route.abort());
  const page = await open('/projects/default/operations?status=success', context);
  const signIn = async (): Promise<void> => {
    await page.getByRole('link', { name: 'Sign in with Acme' }).click();
    const login = page.locator('input[name=login]');
    await login.or(page.getByRole('heading', { name: 'Operations', level: 1 })).waitFor();
    if (!(await login.isVisible())) return;
    await login.fill('mary');
    await page.locator('input[name=password]').fill('any');
    await page.getByRole('button', { name: 'Sign-in' }).click();
  };
  await signIn();
  await page.getByText('Nobody invited your e-mail address').waitFor();
  expect(await barriers(page)).toEqual([]);
  const invited = { email: 'mary@example.com', role: 'support' };
  expect((await platform.call('POST', '/projects/default/invitations', invited)).status).toBe(201);
  await signIn();
  await page.waitForURL('**/projects/default/operations?status=success');
  await page.getByRole('heading', { name: 'Operations', level: 1 }).waitFor();
  await context.close();
}

/** Somebody with a second factor who accepts an invitation is asked for it there, and comes to the project that they were invited to. */
export async function invitedWithASecondFactor(world: ConsoleWorld): Promise<void> {
  const { open, stranger } = world;
  const email = 'radia@example.com';
  const { context: theirs } = await enterAs(world, 'viewer', email);
  const ask = async <Body>(as: BrowserContext, path: string, data: object): Promise<Body> => {
    const { base } = world.platform;
    const answer = await as.request.post(`${base}/v1${path}`, { data, headers: { origin: base } });
    expect([path, answer.ok()]).toEqual([path, true]);
    return (await answer.json()) as Body;
  };
  const proof = { password: first.password };
  const { secret } = await ask<{ secret: string }>(theirs, '/person/second-factor', proof);
  const { recoveryCodes } = await ask<{ recoveryCodes: string[] }>(theirs, '/person/second-factor:confirm', {
    code: new TOTP({ secret: Secret.fromBase32(secret) }).generate(),
  });
  const mine = (await open('/projects')).context();
  await ask(mine, '/projects', { name: 'led-to' });
  const role = 'viewer';
  const { url } = await ask<{ url: string }>(mine, '/projects/led-to/invitations', { email, role });
  const context = await stranger();
  const page = await context.newPage();
  await page.goto(url);
  await page.getByLabel('Password').fill(first.password);
  await page.getByRole('button', { name: 'Go on' }).click();
  await page.getByLabel('Code', { exact: true }).fill(recoveryCodes[0] ?? '');
  await page.getByRole('heading', { name: /^Join / }).waitFor();
  expect(await barriers(page)).toEqual([]);
  await page.getByRole('button', { name: 'Go on' }).click();
  await page.waitForURL('**/projects/led-to/overview');
  await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
  await context.close();
  await theirs.close();
}
