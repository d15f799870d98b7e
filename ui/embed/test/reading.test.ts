import { describe, expect, it } from 'vitest';
import type { ConfigContent, HydratedRevision, Installation } from '../../client/src/index.ts';
import { applyEdit } from '../src/state/draft.ts';
import { heldIn, leftIn, pausableIn, pausedAfter, readIn, withReads } from '../src/state/reading.ts';
import { mergeDrafts } from '../src/state/save.ts';

const always = { enabled: 'always' as const, requiredFields: [{ fieldName: 'id' }] };
const revision: HydratedRevision = {
  id: 'r1',
  specVersion: '1.0.0',
  createTime: '2026-01-01T00:00:00Z',
  content: {
    name: 'crm',
    provider: 'hubspot',
    read: {
      objects: [
        { objectName: 'contacts', displayName: 'Contacts' },
        { objectName: 'deals', displayName: 'Deals' },
        { objectName: 'owners', displayName: 'Owners', ...always },
        { objectName: 'empty', displayName: 'Empty', enabled: 'always' },
      ],
    },
    write: { objects: [{ objectName: 'contacts', displayName: 'Contacts' }] },
  },
};
const content: ConfigContent = {
  provider: 'hubspot',
  read: {
    objects: {
      contacts: { objectName: 'contacts', selectedFields: { email: true } },
      deals: { objectName: 'deals', disabled: true },
    },
  },
};

describe('ui/embed/reading', () => {
  it('pauses all that is read, what the manifest reads for everybody as well, and resumes what is asked for only', () => {
    expect(readIn(content, revision)).toEqual(['contacts', 'owners']);
    const paused = withReads(content, pausableIn(content, revision), false);
    expect(readIn(paused, revision)).toEqual([]);
    expect(heldIn(paused)).toEqual(['contacts', 'deals', 'owners']);
    const asked = structuredClone(revision);
    asked.content.read!.objects[2]!.requiredFields!.push({ mapToName: 'nickname' });
    expect(readIn(content, asked)).toEqual(['contacts', 'owners']);
    expect(pausableIn(content, asked)).toEqual(['contacts']);
    const resumed = withReads(paused, ['contacts'], true);
    expect(readIn(resumed, revision)).toEqual(['contacts']);
    expect(heldIn(resumed)).toEqual(['deals', 'owners']);
    expect(resumed.read?.objects['contacts']).toEqual(content.read?.objects['contacts']);
  });

  const entered = (from: ConfigContent, fieldName: string, object = 'contacts'): ConfigContent =>
    applyEdit(from, { on: 'read', object, set: { kind: 'field', fieldName, selected: true } });
  it('keeps a pause of a colleague whoever changed fields meanwhile, and whosever these hold', () => {
    const both = withReads(content, ['deals'], true);
    const theirs = withReads(both, ['contacts', 'deals'], false);
    const mine = entered(both, 'phone');
    expect(mergeDrafts(both, mine, theirs)).toEqual({
      kind: 'merged',
      content: withReads(mine, ['contacts', 'deals'], false),
    });
    // The other way round: this page paused, and they changed fields.
    expect(mergeDrafts(both, theirs, mine)).toEqual(mergeDrafts(both, mine, theirs));
    const changed = entered(theirs, 'city');
    expect(mergeDrafts(both, mine, changed)).toEqual({ kind: 'conflict', objects: ['read/contacts'] });
    for (const [whose, held] of [
      ['mine', withReads(mine, ['contacts', 'deals'], false)],
      ['theirs', changed],
    ] as const)
      expect(mergeDrafts(both, mine, changed, whose)).toEqual({ kind: 'merged', content: held });
    // What is taken of them holds whole: nothing is read again by it.
    const resumed = withReads(entered(theirs, 'phone'), ['contacts'], true);
    expect(mergeDrafts(theirs, resumed, changed, 'theirs')).toEqual({ kind: 'merged', content: changed });
    expect(readIn(withReads(mine, ['contacts', 'deals'], false), revision)).toEqual(['owners']);
  });

  it('finds what the manifest no longer has and the installation goes on with', () => {
    const written = { Tickets: { objectName: 'Tickets' }, contacts: { objectName: 'contacts' } };
    const more = withReads({ ...content, write: { objects: written } }, ['tickets', 'calls'], true);
    expect(leftIn(content, revision)).toEqual([]);
    expect(leftIn(more, revision)).toEqual([
      { objectName: 'Tickets', isRead: true, isWritten: true },
      { objectName: 'calls', isRead: true, isWritten: false },
    ]);
    expect(leftIn(withReads(more, ['tickets', 'calls'], false), revision)).toEqual([
      { objectName: 'Tickets', isRead: false, isWritten: true },
    ]);
  });

  it('remembers what this page paused until somebody else changes the config', () => {
    const config = (id: string, now: ConfigContent) => ({ id, content: now }) as Installation['config'];
    const both = withReads(content, ['contacts', 'deals'], false);
    const [first, second] = [config('c1', content), config('c2', both)];
    const paused = pausedAfter(undefined, first, second, ['contacts']);
    expect(paused).toEqual({ configId: 'c2', names: ['contacts'] });
    // Its own saves keep it, as far as it still holds.
    expect(pausedAfter(paused, second, config('c3', both))).toEqual({ configId: 'c3', names: ['contacts'] });
    const read = withReads(both, ['contacts'], true);
    expect(pausedAfter(paused, second, config('c3', read))).toEqual({ configId: 'c3', names: [] });
    expect(pausedAfter(paused, config('c9', both), config('c10', both))).toBeUndefined();
    expect(pausedAfter(paused, second, config('c3', read), [])).toEqual({ configId: 'c3', names: [] });
  });
});
