import { expect } from 'vitest';
import { connect, simulator } from '../../customer.ts';
import type { Walk } from './steps.ts';
import { all, deletesOf, installationOf, installed } from './together.ts';

/** A draft of a builder's own page is sent with the config that it was made from, whatever was loaded since. */
export const draftOfHooks: Walk = async (world) => {
  const group = 'hooks';
  const first = await installed(world, group);
  await first.close();
  const page = await world.open({ group, show: 'Hooks' });
  const ask = <Value>(code: string): Promise<Value> => page.evaluate<Value>(code);
  const isOn = () => ask('hooks.config.writeObject("contacts").getDeletionEnabled()');
  const update = () =>
    ask<string | undefined>(
      'hooks.update.updateInstallation({ config: hooks.config.get() }).then((made) => made?.id)',
    );
  const codeOf = () => ask<string | undefined>('hooks.update.error?.code');
  await expect.poll(() => ask('hooks.config.base?.id')).toBeTruthy();
  const { id } = await installationOf(world, group);
  const colleague = async (object: string): Promise<void> => {
    const before = (await installationOf(world, group)).config.content.write.objects;
    const objects = { ...before, [object]: { objectName: object, deletionSettings: { enabled: true } } };
    const sent = await world.platform.call('PATCH', `${all}/${id}`, {
      updateMask: ['config.content.write.objects'],
      installation: { config: { content: { write: { objects } } } },
    });
    expect(sent.status).toBe(200);
    await ask('hooks.installation.refetch()');
  };
  await ask('hooks.config.writeObject("contacts").setEnableDeletion()');
  await expect.poll(isOn).toBe(true);
  await colleague('companies');
  expect(await update()).toBeUndefined();
  await expect.poll(codeOf).toBe('config-changed');
  expect(await deletesOf(world, group)).toEqual([undefined, true]);
  await ask('hooks.config.reset()');
  await expect.poll(isOn).toBe(false);
  // Made from the config in force it is saved, and so is the next edit.
  for (const set of ['setEnableDeletion', 'setDisableDeletion']) {
    await ask(`hooks.config.writeObject("contacts").${set}()`);
    await expect.poll(isOn).toBe(set === 'setEnableDeletion');
    expect(await update()).toBe(id);
  }
  expect(await deletesOf(world, group)).toEqual([false, true]);
  // Once saved, the draft follows the config of the installation again.
  await colleague('contacts');
  await expect.poll(isOn).toBe(true);
};

/** The fields are those of the account that it is installed on, not of one that a colleague connected later. */
export const fieldsOfInstalled: Walk = async (world) => {
  const group = 'two-accounts';
  await (await installed(world, group)).close();
  const { connection } = await installationOf(world, group);
  await simulator(world.platform.hubspot, 'POST', '/consent', { account: '77777777' });
  expect(await connect(world.platform, 'hubspot', group)).not.toBe(connection.id);
  await simulator(world.platform.hubspot, 'POST', '/consent', { account: '244001' });
  const shown = await world.open({ group, show: 'Hooks' });
  // Of the page before its reload, too, where it asks late.
  const asked = new Set<string | null>();
  shown.on('request', (request) => {
    if (request.url().includes(':hydrate'))
      asked.add(new URL(request.url()).searchParams.get('connectionId'));
  });
  await shown.reload();
  await expect.poll(() => shown.evaluate('hooks.manifest.data?.id')).toBeTruthy();
  expect([...asked]).toEqual([connection.id]);
};

/** What is edited and sent while a page loads is of the provider and the installation that are on their way. */
export const sentWhileLoading: Walk = async (world) => {
  const group = 'while-loading';
  await (await installed(world, group)).close();
  const { id } = await installationOf(world, group);
  const page = await world.open({ group, show: 'Hooks' });
  const held = async (path: string): Promise<() => void> => {
    const go = Promise.withResolvers<void>();
    await page.route(path, async (route) => {
      await go.promise;
      await route.continue();
    });
    return go.resolve;
  };
  const answer = await Promise.all([held('**/installations?*'), held('**/integrations/hubspot-crm')]);
  await page.reload();
  await page.evaluate('hooks.config.proxy().setProxyEnabled(false)');
  await expect
    .poll(() => page.evaluate('hooks.config.get()'))
    .toEqual({ provider: '', proxy: { enabled: false } });
  const content = `{ provider: 'hubspot', write: { objects: { contacts: { objectName: 'contacts', deletionSettings: { enabled: true } } } } }`;
  await page.evaluate(
    `window.sent = hooks.update.updateInstallation({ config: ${content} }).then((made) => made?.id); undefined`,
  );
  for (const go of answer) go();
  expect(await page.evaluate('window.sent')).toBe(id);
  expect(await deletesOf(world, group)).toEqual([true]);
  await expect.poll(() => page.evaluate('hooks.config.get().provider')).toBe('hubspot');
  expect(await page.evaluate('hooks.config.proxy().getProxyEnabled()')).toBe(false);
};

/** A handler sees what it has just set, saves that, and goes on from what is saved; what `get()` gives cannot be changed in place. */
export const setAndSaved: Walk = async (world) => {
  const group = 'set-and-saved';
  await (await installed(world, group)).close();
  const page = await world.open({ group, show: 'Hooks' });
  await expect.poll(() => page.evaluate('hooks.config.base?.id')).toBeTruthy();
  const handler = (code: string) =>
    page.evaluate<unknown>(`(async () => { 'use strict'; const { config, update } = hooks; ${code} })()`);
  const save = 'await update.updateInstallation({ config: config.get() });';
  const deletes = 'contacts.getDeletionEnabled(), contacts.object.deletionSettings';
  expect(
    await handler(`const contacts = config.writeObject('contacts'); contacts.setEnableDeletion();
      const seen = [${deletes}]; ${save} return seen;`),
  ).toEqual([true, { enabled: true }]);
  expect(await deletesOf(world, group)).toEqual([true, undefined]);
  expect(
    await handler(`const contacts = config.writeObject('contacts'); const companies = config.writeObject('companies');
      contacts.setDisableDeletion(); ${save} companies.setEnableDeletion(); ${save} return [${deletes}];`),
  ).toEqual([false, { enabled: false }]);
  expect(await deletesOf(world, group)).toEqual([false, true]);
  const { config: saved } = await installationOf(world, group);
  expect(await handler(`config.proxy().setProxyEnabled(true); config.reset(); return config.get();`)).toEqual(
    saved.content,
  );
  for (const edit of ['', `config.writeObject('contacts').setEnableDeletion();`])
    expect(
      await handler(`${edit} try { config.get().write.objects.contacts.deletionSettings.enabled = true; }
        catch (error) { return error.name; } finally { config.reset(); }`),
    ).toBe('TypeError');
};

/** What JavaScript leaves out is an error to look at. */
export const givenNothing: Walk = async (world) => {
  const page = await world.open({ group: 'given-nothing', show: 'Hooks' });
  await expect.poll(() => page.evaluate('hooks.config.isConnected')).toBe(false);
  for (const [name, call] of [
    ['create', 'createInstallation'],
    ['update', 'updateInstallation'],
  ] as const)
    for (const given of ['', '{}']) {
      expect(await page.evaluate(`hooks.${name}.${call}(${given})`)).toBeUndefined();
      await expect
        .poll(() => page.evaluate(`[hooks.${name}.error?.code, hooks.${name}.error?.detail]`))
        .toEqual(['invalid-request', `${call} needs {config}.`]);
    }
};
