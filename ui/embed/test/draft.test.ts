import { describe, expect, it } from 'vitest';
import type { ConfigContent, Installation } from '../../client/src/index.ts';
import { after } from '../src/components/use-draft.ts';
import { withReads } from '../src/state/reading.ts';

const contentOf = (mapped: string, disabled = false): ConfigContent => ({
  provider: 'hubspot',
  read: {
    objects: {
      contacts: {
        objectName: 'contacts',
        selectedFieldMappings: { nickname: mapped },
        ...(disabled ? { disabled } : {}),
      },
    },
  },
});
const installationOf = (id: string, content: ConfigContent): Installation =>
  ({ id: 'i1', config: { id, content } }) as Installation;
const pause = (content: ConfigContent) => withReads(content, ['contacts'], false);
const before = installationOf('c1', contentOf('firstname'));
const saved = installationOf('c2', contentOf('firstname', true));
const edited = { base: before, content: contentOf('lastname') };
const [none, merged] = [{ kind: 'none' }, { kind: 'merged' }] as const;

describe('ui/embed/draft', () => {
  it('leaves other edits as they are where a change alone could not be saved', () => {
    expect(after({ meeting: none }, edited, before, pause)).toBe(edited);
    expect(after({ meeting: none }, undefined, before, pause)).toBeUndefined();
  });

  it('has other edits stand upon a change alone, unless others changed something with it', () => {
    const content = contentOf('lastname', true);
    expect(after({ saved, meeting: none }, edited, before, pause)).toEqual({ base: saved, content });
    expect(after({ saved, meeting: merged }, edited, before, pause)).toEqual({ base: before, content });
    expect(after({ saved, meeting: none }, undefined, before, pause)).toBeUndefined();
  });

  it('has no edits left that differ in nothing', () => {
    const same = { base: before, content: pause(contentOf('firstname')) };
    expect(after({ saved, meeting: none }, same, before, pause)).toBeUndefined();
  });

  it('keeps a change alone with what is to be installed again', () => {
    expect(after({ meeting: { kind: 'uninstalled' } }, undefined, before, pause)).toEqual({
      base: undefined,
      content: contentOf('firstname', true),
    });
  });
});
