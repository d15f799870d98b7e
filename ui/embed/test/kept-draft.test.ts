import { describe, expect, it, vi } from 'vitest';
import { keepUntilGone, keptIn } from '../src/components/kept-draft.ts';

const content = {
  provider: 'hubspot',
  read: {
    objects: {
      contacts: {
        objectName: 'contacts',
        selectedFields: { city: true },
        selectedValueMappings: { stage: { won: 'customer' } },
        fieldFilters: [{ fieldName: 'city', operator: 'eq', value: 'Bern' }],
      },
    },
  },
  write: { objects: { contacts: { objectName: 'contacts', deletionSettings: { enabled: true } } } },
};
const base = { id: 'i1', config: { id: 'c1', content } };
const kept = (value: unknown) => keptIn(JSON.stringify(value), 'hubspot');

describe('ui/embed/kept-draft', () => {
  it('reads what was kept', () => {
    expect(kept({ content })).toEqual({ content });
    expect(kept({ content, base })).toEqual({ content, base });
    // What could not be decided about before the page was left is taken up once it is back.
    expect(kept({ content, undecided: ['deals'] })).toEqual({ content, undecided: ['deals'] });
  });

  it.each([
    [null],
    ['text'],
    [{}],
    [{ content, undecided: [1] }],
    [{ content: { ...content, provider: 'salesforce' } }],
    [{ content: { ...content, read: { objects: [] } } }],
    [{ content: { ...content, read: {}, write: 'all' } }],
    [{ content: { ...content, read: { objects: { contacts: {} } } } }],
    [
      {
        content: {
          ...content,
          write: { objects: { contacts: { objectName: 'c', deletionSettings: { enabled: 1 } } } },
        },
      },
    ],
    [
      {
        content: {
          ...content,
          read: { objects: { c: { objectName: 'c', selectedFields: { city: 'yes' } } } },
        },
      },
    ],
    [{ content: { ...content, read: { objects: { c: { objectName: 'c', fieldFilters: [null] } } } } }],
    [{ content, base: { id: 'i1' } }],
    [{ content, base: { ...base, config: { id: 'c1', content: 'none' } } }],
  ])('drops what has another shape: %j', (value) => {
    expect(kept(value)).toBeUndefined();
  });

  it('drops what is no JSON', () => {
    expect(keptIn('{', 'hubspot')).toBeUndefined();
  });

  it('keeps once more as the page goes', () => {
    const heard = vi.fn<typeof addEventListener>();
    vi.stubGlobal('addEventListener', heard);
    keepUntilGone();
    expect(heard).toHaveBeenCalledWith('pagehide', expect.any(Function), { once: true });
    vi.unstubAllGlobals();
  });
});
