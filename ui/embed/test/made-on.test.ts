import { describe, expect, it } from 'vitest';
import { SvcError, type ConfigContent, type Installation } from '../../client/src/index.ts';
import { rememberMadeOn, rememberSaved, sentUpon } from '../src/hooks/made-on.ts';
import { createQueryStore } from '../src/hooks/store.ts';

const installationOf = (id: string): Installation => ({ id, config: { id } }) as Installation;
const draft = (): ConfigContent => ({ provider: 'hubspot' });
const [one, other] = [installationOf('i1'), installationOf('i2')];

const installed = (found: Installation | null) => () => Promise.resolve(found);

describe('ui/embed/made-on', () => {
  it('sends a config upon what it was made on, whatever was loaded since', async () => {
    const made = rememberMadeOn(draft(), { base: one });
    expect(await sentUpon(made, undefined, installed(other))).toBe(one);
    expect(await sentUpon(made, other, installed(one))).toBe(other);
    rememberSaved(made, other);
    expect(await sentUpon(made, undefined, installed(one))).toBe(other);
  });

  it.each([[null], [undefined]])(
    'sends one that was begun on %s upon nothing that came later',
    async (base) => {
      const made = rememberMadeOn(draft(), { base });
      expect(await sentUpon(made, undefined, installed(one))).toBeUndefined();
      expect(await sentUpon(made, one, installed(one))).toBe(one);
      expect(await sentUpon(made, undefined, installed(null))).toBeNull();
    },
  );

  it('sends a config that nothing is known of upon what is installed, loaded or on its way', async () => {
    const store = createQueryStore();
    const loading = Promise.withResolvers<Installation>();
    const upon = sentUpon(draft(), undefined, async () => store.known('installation', () => loading.promise));
    loading.resolve(one);
    expect(await upon).toBe(one);
    expect(await store.known('installation', () => Promise.resolve(other))).toBe(one);
    expect(await sentUpon(draft(), undefined, installed(null))).toBeNull();
  });

  it('asks again for what could not be loaded, and says why it cannot', async () => {
    const store = createQueryStore();
    const down = new SvcError({ code: 'unreachable', status: 0, detail: 'Away.' });
    await expect(store.known('installation', () => Promise.reject(down))).rejects.toBe(down);
    expect(await store.known('installation', () => Promise.resolve(one))).toBe(one);
  });
});
