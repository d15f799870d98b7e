import { describe, expect, it } from 'vitest';
import type { ConfigContent } from '../../client/src/index.ts';
import { decided, differences, masksOf, mergeDrafts, updateOf, uponOwn } from '../src/state/save.ts';

/** Numbers that look random and are the same in each run. */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const names = ['contacts', 'companies', 'deals'];
const parts = ['read', 'write', 'subscribe'] as const;
type Part = (typeof parts)[number];
type Objects = Record<string, { objectName: string }>;

function configs(pick: (below: number) => number) {
  const one = (part: Part, objectName: string) => ({
    objectName,
    ...(part === 'read' && pick(2) ? { disabled: true } : {}),
    ...(part === 'write' && pick(2) ? { deletionSettings: { enabled: pick(2) === 1 } } : {}),
    ...(part === 'subscribe' ? { destination: `inbox${pick(2)}` } : {}),
  });
  const objects = (part: Part): Objects =>
    Object.fromEntries(names.filter(() => pick(4)).map((name) => [name, one(part, name)]));
  const some = (): Partial<ConfigContent> => ({
    ...Object.fromEntries(parts.filter(() => pick(6)).map((part) => [part, { objects: objects(part) }])),
    ...(pick(2) ? { proxy: { enabled: pick(2) === 1 } } : {}),
  });
  const base = (): ConfigContent => ({ provider: 'hubspot', ...some() });
  const changed = (from: ConfigContent): ConfigContent => {
    const { proxy, ...to } = structuredClone(from);
    for (const part of parts)
      for (const name of names) {
        if (pick(3)) continue;
        const all: Objects = { ...to[part]?.objects };
        if (pick(2)) all[name] = one(part, name);
        else delete all[name];
        Object.assign(to, { [part]: { objects: all } });
      }
    const next = pick(2) ? proxy : pick(3) ? { enabled: pick(2) === 1 } : undefined;
    return { ...to, ...(next ? { proxy: next } : {}) };
  };
  return { base, changed };
}

/** Everything that two people can change, by its place. */
function places(content: ConfigContent): Map<string, string> {
  const objects = parts.flatMap((part) =>
    names.map((name) => [`${part}/${name}`, JSON.stringify(content[part]?.objects?.[name])] as const),
  );
  return new Map([...objects, ['proxy', JSON.stringify(content.proxy)]]);
}

describe('ui/embed/merge', () => {
  it('keeps what one of two changed, and asks for exactly what both changed in different ways', () => {
    const { base, changed } = configs(numbers(7));
    const met = { conflict: 0, merged: 0 };
    for (let run = 0; run < 3_000; run += 1) {
      const from = base();
      const [mine, theirs] = [changed(from), changed(from)];
      const [b, m, t] = [places(from), places(mine), places(theirs)];
      const isBoth = (at: string) =>
        m.get(at) !== b.get(at) && t.get(at) !== b.get(at) && m.get(at) !== t.get(at);
      const both = [...b.keys()].filter(isBoth);
      const merge = mergeDrafts(from, mine, theirs);
      met[merge.kind] += 1;
      expect(merge.kind === 'conflict' ? merge.objects.toSorted() : []).toEqual(both.toSorted());
      for (const prefer of ['mine', 'theirs'] as const) {
        const whole = mergeDrafts(from, mine, theirs, prefer);
        const wanted = [...b.keys()].map((at) => {
          const isMine = m.get(at) !== b.get(at) && !(isBoth(at) && prefer === 'theirs');
          return [at, (isMine ? m : t).get(at)] as const;
        });
        expect(whole.kind === 'merged' && [...places(whole.content)]).toEqual(wanted);
      }
    }
    expect(Math.min(met.conflict, met.merged)).toBeGreaterThan(100);
  });

  it('sends what was subscribed to differently, and takes nothing of it away', () => {
    const to = (destination: string): ConfigContent => ({
      provider: 'hubspot',
      subscribe: { objects: { contacts: { objectName: 'contacts', destination } } },
    });
    const [mine, base] = [to('mine'), to('base')];
    const masks = masksOf(mine, base);
    expect(masks).toEqual(['config.content.subscribe.objects.contacts']);
    expect(updateOf(mine, masks, 'ada').installation.config?.content).toEqual({ subscribe: mine.subscribe });
    expect(masksOf({ provider: 'hubspot' }, base)).toEqual([]);
    expect(differences({ provider: 'hubspot' }, base)).toEqual([]);
    expect(differences(mine, { ...base, proxy: { enabled: true } })).toEqual(['subscribe/contacts', 'proxy']);
  });

  it('reads nothing that only they read where mine holds of two first installations', () => {
    const reading = (...objects: string[]): ConfigContent => ({
      provider: 'hubspot',
      read: { objects: Object.fromEntries(objects.map((objectName) => [objectName, { objectName }])) },
    });
    const [mine, theirs] = [reading('contacts'), reading('Contacts', 'deals')];
    const held = decided(undefined, mine, theirs, 'mine');
    expect(held.read?.objects).toEqual({
      contacts: { objectName: 'contacts' },
      deals: { objectName: 'deals', disabled: true },
    });
    expect(masksOf(held, theirs)).toContain('config.content.read.objects.deals');
    expect(decided(undefined, mine, theirs, 'theirs')).toEqual(theirs);
    // Of a config that was changed, what only they read was added by them.
    const merged = decided(mine, mine, theirs, 'mine');
    expect(merged.read?.objects?.['deals']).toEqual({ objectName: 'deals' });
  });

  it('knows its own config where the answer was lost, and sends what was entered since upon it', () => {
    const reading = (fields: string[], disabled = false, deals = false): ConfigContent => ({
      provider: 'hubspot',
      read: {
        objects: {
          contacts: {
            objectName: 'contacts',
            selectedFields: Object.fromEntries(fields.map((name) => [name, true])),
            ...(disabled ? { disabled } : {}),
          },
          ...(deals ? { deals: { objectName: 'deals' } } : {}),
        },
      },
    });
    const base = reading(['email']);
    const whole = (content: ConfigContent) => ({ content, isAlone: false });
    const lost = [whole(reading(['email', 'phone'])), whole(reading(['email', 'city']))];
    const theirs = reading(['email', 'city']);
    const more = reading(['email', 'city', 'zip'], false, true);
    expect(uponOwn(base, whole(more), theirs, lost)).toEqual(more);
    // What was discarded meanwhile is not kept.
    expect(uponOwn(base, whole(reading(['email', 'zip'])), theirs, lost)).toEqual(reading(['email', 'zip']));
    expect(uponOwn(base, whole(more), reading(['email', 'other']), lost)).toBeUndefined();
    expect(uponOwn(base, whole(more), theirs, [])).toBeUndefined();
    // What was declined meanwhile is not read on.
    const both = reading(['email'], false, true);
    expect(uponOwn(base, whole(theirs), both, [whole(both)])?.read?.objects).toEqual({
      ...theirs.read?.objects,
      deals: { objectName: 'deals', disabled: true },
    });
    // A pause by itself keeps what was saved, and a save keeps the pause.
    const pause = { content: reading(['email'], true), isAlone: true };
    expect(uponOwn(base, pause, theirs, lost)).toEqual(reading(['email', 'city'], true));
    expect(uponOwn(base, whole(more), pause.content, [pause])).toEqual(
      reading(['email', 'city', 'zip'], true, true),
    );
  });
});
