import { describe, expect, it } from 'vitest';
import type { Manifest, ManifestIntegration } from '../schema.ts';
import { planDeploy } from './deploy-plan.ts';
import type { Integration } from './store.ts';

const mine: ManifestIntegration = {
  name: 'mine',
  provider: 'hubspot',
  read: {
    objects: [
      { objectName: 'contacts', destination: 'hook' },
      { objectName: 'deals', destination: 'hook' },
    ],
  },
  proxy: { enabled: true },
};
const manifest = (...integrations: ManifestIntegration[]): Manifest => ({
  specVersion: '1.0.0',
  integrations,
});
const live = (content: ManifestIntegration, specVersion = '1.0.0'): Integration => {
  const moment = new Date(0);
  const latestRevision = { id: 'r', specVersion, content, retained: [], createdAt: moment };
  const { name, provider } = content;
  return { id: name, projectId: 'p', name, provider, createdAt: moment, updatedAt: moment, latestRevision };
};
const shown = (plan: ReturnType<typeof planDeploy>) =>
  'refusals' in plan ? plan.refusals : plan.integrations.map((one) => one.shown);

const at = new Date(1).toISOString();
const terms = { destructive: false, at };

describe('src/projects/integrations/deploy-plan', () => {
  it('creates what is not live, with all its parts', () => {
    expect(shown(planDeploy(manifest(mine), [], terms))).toEqual([
      {
        name: 'mine',
        provider: 'hubspot',
        change: 'created',
        added: ['read.contacts', 'read.deals', 'proxy'],
        changed: [],
        removed: [],
      },
    ]);
  });

  it('leaves what is the same alone, whatever the order of its keys', () => {
    const { name, provider, read, proxy } = mine;
    const plan = planDeploy(manifest({ proxy, read, provider, name }), [live(mine)], terms);
    expect(shown(plan)).toMatchObject([{ change: 'unchanged', added: [], changed: [], removed: [] }]);
  });

  it('names what is added, changed and removed; the case of an object does not count', () => {
    const next: ManifestIntegration = {
      name: 'mine',
      provider: 'hubspot',
      displayName: 'Mine',
      read: { objects: [{ objectName: 'Contacts', destination: 'other' }] },
      write: { objects: [{ objectName: 'contacts' }] },
      proxy: { enabled: false },
    };
    expect(shown(planDeploy(manifest(next), [live(mine)], terms))).toMatchObject([
      {
        change: 'updated',
        added: ['write.contacts', 'displayName'],
        changed: ['read.Contacts', 'proxy'],
        removed: ['read.deals'],
      },
    ]);
  });

  it('makes a new revision for another order of objects, which is a change of the text only', () => {
    const [first, second] = mine.read!.objects;
    const turned = { ...mine, read: { objects: [second!, first!] } };
    expect(shown(planDeploy(manifest(turned), [live(mine)], terms))).toMatchObject([
      { change: 'updated', changed: [] },
    ]);
  });

  it('leaves live integrations alone that the manifest does not name', () => {
    const plan = planDeploy(manifest(mine), [live(mine), live({ ...mine, name: 'other' })], terms);
    expect(plan).toMatchObject({ untouched: ['other'] });
  });

  it('refuses another provider under a live name, at its place', () => {
    const plan = planDeploy(
      manifest({ ...mine, name: 'new' }, { ...mine, provider: 'salesforce' }),
      [live(mine)],
      terms,
    );
    expect(shown(plan)).toMatchObject([{ rule: 'provider-changed', path: ['integrations', 1, 'provider'] }]);
  });

  it('looks at one integration when told so', () => {
    const plan = planDeploy(
      manifest({ ...mine, provider: 'salesforce' }, { ...mine, name: 'new' }),
      [live(mine)],
      { ...terms, only: 'new' },
    );
    expect(shown(plan)).toMatchObject([{ name: 'new', change: 'created' }]);
  });

  it('keeps what is taken out for those who have it, until it is declared again or a deploy is destructive', () => {
    const { read: _read, ...others } = mine;
    const taken = planDeploy(manifest(others), [live(mine)], terms);
    const objects = [
      { action: 'read', object: mine.read!.objects[0], at },
      { action: 'read', object: mine.read!.objects[1], at },
    ];
    expect(taken).toMatchObject({ integrations: [{ retained: objects, takenAway: objects }] });
    const then = live(others);
    then.latestRevision.retained = objects as never;

    const again = planDeploy(manifest(others), [then], { ...terms, at: 'later' });
    expect(shown(again)).toMatchObject([{ change: 'unchanged' }]);
    const changed = planDeploy(manifest({ ...others, displayName: 'x' }), [then], { ...terms, at: 'later' });
    expect(changed).toMatchObject({ integrations: [{ retained: objects, takenAway: [] }] });
    const [contacts] = mine.read!.objects;
    const back = { ...others, read: { objects: [{ ...contacts!, objectName: 'Contacts' }] } };
    expect(planDeploy(manifest(back), [then], terms)).toMatchObject({
      integrations: [{ retained: [objects[1]], takenAway: [] }],
    });

    const ended = planDeploy(manifest(others), [then], { ...terms, destructive: true });
    expect(ended).toMatchObject({ integrations: [{ retained: [], takenAway: objects }] });
    expect(shown(ended)).toMatchObject([{ change: 'updated', removed: ['read.contacts', 'read.deals'] }]);
  });
});
