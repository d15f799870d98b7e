import { expect } from 'vitest';
import type { World } from '../world.ts';
import { button, connected, heading, stepTo, type Walk } from './steps.ts';

interface Written {
  config: { content: { write: { objects: Record<string, { selectedFieldSettings: object }> } } };
}

async function settingsOf({ platform }: World, group: string): Promise<object | undefined> {
  const { body } = await platform.call<Written[]>('GET', `/projects/default/installations?groupRef=${group}`);
  return body[0]?.config.content.write.objects['contacts']?.selectedFieldSettings;
}

/** A name of the builder is also the name of another field of the provider: the rule is on the chosen field, and names it. */
export const ruleForField: Walk = async (world) => {
  const page = await connected(world, 'rules');
  // The builder's `phone` is mapped to another field than the provider's `phone`.
  await page.getByLabel('Phone (optional)').fill('mobile');
  await page.getByRole('option', { name: 'Mobile Phone' }).click();
  await stepTo(page, 'Writing');
  const picker = page.getByLabel('Add a rule for a field').first();
  await picker.fill('phone');
  await expect.poll(() => page.getByRole('option').filter({ hasText: 'matched to Phone' }).count()).toBe(1);
  await picker.fill('');
  await picker.pressSequentially('City');
  await page.keyboard.press('Enter');
  await button(page, 'Remove the rule for City').waitFor();
  await picker.pressSequentially('Mobile');
  await page.keyboard.press('Enter');
  const rule = page.getByRole('group', { name: /Mobile Phone Number/ });
  await rule.getByText('matched to Phone').waitFor();
  await rule.getByLabel('On existing records').selectOption('ifEmpty');
  await stepTo(page, 'Review');
  await button(page, 'Finish setup').click();
  await heading(page, 'All set').waitFor();
  expect(await settingsOf(world, 'rules')).toEqual({
    city: { writeOnUpdate: 'never' },
    phone: { writeOnUpdate: 'ifEmpty' },
  });
};
