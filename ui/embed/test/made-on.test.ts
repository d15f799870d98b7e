import { describe, expect, it } from 'vitest';
import type { ConfigContent, Installation } from '../../client/src/index.ts';
import { rememberMadeOn, rememberSaved, sentUpon } from '../src/hooks/made-on.ts';

const installationOf = (id: string): Installation => ({ id, config: { id } }) as Installation;
const draft = (): ConfigContent => ({ provider: 'hubspot' });
const [one, other] = [installationOf('i1'), installationOf('i2')];

describe('ui/embed/made-on', () => {
  it('sends a config upon what it was made on, whatever was loaded since', () => {
    const made = rememberMadeOn(draft(), { base: one });
    expect(sentUpon(made, undefined, other)).toBe(one);
    expect(sentUpon(made, other, one)).toBe(other);
    rememberSaved(made, other);
    expect(sentUpon(made, undefined, one)).toBe(other);
  });

  it.each([[null], [undefined]])('sends one that was begun on %s upon nothing that came later', (base) => {
    const made = rememberMadeOn(draft(), { base });
    expect(sentUpon(made, undefined, one)).toBeUndefined();
    expect(sentUpon(made, one, one)).toBe(one);
    expect(sentUpon(made, undefined, null)).toBeNull();
    expect(sentUpon(made, undefined, undefined)).toBeNull();
  });

  it('sends a config that nothing is known of upon what is loaded', () => {
    expect(sentUpon(draft(), undefined, one)).toBe(one);
    expect(sentUpon(draft(), undefined, undefined)).toBeNull();
  });
});
