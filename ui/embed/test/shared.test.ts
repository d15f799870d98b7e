import { createElement, type ReactNode } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { describe, expect, it } from 'vitest';
import {
  SvcError,
  type ConfigContent,
  type HydratedRevision,
  type ReadState,
} from '../../client/src/index.ts';
import { Filters } from '../src/components/filters.tsx';
import { LeftObjects } from '../src/components/left-objects.tsx';
import { ObjectsPanel, ReviewPanel } from '../src/components/objects-panel.tsx';
import { Failure } from '../src/components/ui.tsx';
import { WritePanel } from '../src/components/write-panel.tsx';
import { applyEdit, type Edit } from '../src/state/draft.ts';
import { issuesNowhere } from '../src/state/nowhere.ts';
import { firstDraft, withObject, withoutObject } from '../src/state/questions.ts';
import { issuesOf, masksOf } from '../src/state/save.ts';
import { stepsOf } from '../src/state/wizard.ts';
import { Root } from '../src/text/index.tsx';

const revision: HydratedRevision = {
  id: 'r1',
  specVersion: '1.0.0',
  createTime: '2026-01-01T00:00:00Z',
  content: {
    name: 'crm',
    provider: 'hubspot',
    read: {
      objects: [
        { objectName: 'contacts', displayName: 'Contacts', requiredFields: [{ fieldName: 'email' }] },
        { objectName: 'deals', displayName: 'Deals' },
      ],
    },
    write: { objects: [{ objectName: 'contacts', displayName: 'Contacts' }] },
  },
};
const stateOf = (status: ReadState['status']): ReadState => ({
  status,
  objectName: 'Calls',
  disabled: false,
  watermark: '2026-01-01T00:00:00Z',
  failures: 0,
});
const draft: ConfigContent = { provider: 'hubspot' };
const nothing = (): void => undefined;
const panel = {
  revision,
  draft,
  offered: {},
  change: nothing,
  edit: nothing,
  provider: 'HubSpot',
  issuesAt: () => [],
  saved: draft,
};
const reviewed = { ...panel, connection: undefined, examples: undefined };
const shown = (page: ReactNode): string =>
  renderToStaticMarkup(
    createElement(Root, { language: 'en', appName: 'Mailmonkey', children: page }),
  ).replace(/<[^>]*>/g, '\n');

describe('ui/embed/shared', () => {
  it('says that what the manifest declares is written, where the config does not name it', () => {
    const said = 'Mailmonkey may create and update Contacts.';
    const objects = shown(createElement(ObjectsPanel, panel));
    expect(objects).toContain(said);
    expect(objects.match(/Read\n/g)).toHaveLength(2);
    expect(objects).not.toContain('Write');
    const review = shown(createElement(ReviewPanel, reviewed));
    expect(review).toMatch(/Contacts\n+Create and update · never deletes\n/);
    expect(review).toMatch(/Deals\n+Not shared\n/);
    expect(review.match(/Not shared/g)).toHaveLength(1);
  });

  it('leads to the limits of what is written, named by the config or not', () => {
    expect(stepsOf(draft, revision, true)).toEqual(['overview', 'objects', 'write']);
    const limits = shown(createElement(WritePanel, panel));
    expect(limits).toContain('Mailmonkey may create and update Contacts.');
    expect(limits).toContain('Allow records to be deleted');
  });

  const read = (objectName: string) =>
    revision.content.read!.objects.find((one) => one.objectName === objectName)!;
  it('keeps nothing of an object that was never saved and is not read, and what was chosen of one that was', () => {
    const first = firstDraft(revision);
    const declined = withoutObject(first, read('deals'), { revision, saved: draft });
    expect(Object.keys(declined.read?.objects ?? {})).toEqual(['contacts']);
    const saved = declined;
    const again = withoutObject(withObject(saved, read('deals')), read('deals'), { revision, saved });
    expect(masksOf(again, saved)).toEqual([]);
    const off = withoutObject(saved, read('contacts'), { revision, saved });
    expect(off.read?.objects).toEqual({ contacts: { objectName: 'contacts', disabled: true } });
    const before = { objectName: 'deals', selectedFields: { amount: true } };
    expect(withObject(saved, read('deals'), [], before).read?.objects['deals']).toEqual(before);
    const edit: Edit = { on: 'read', object: 'Deals', set: { kind: 'enabled', enabled: false } };
    expect(applyEdit(first, edit, draft).read?.objects).not.toHaveProperty('deals');
  });

  it('keeps the mappings that writes go through, where they are whole', () => {
    const asked = { mapToName: 'nickname' };
    const object = { ...read('contacts'), requiredFields: [asked], optionalFields: [{ mapToName: 'phone' }] };
    const [written] = revision.content.write!.objects;
    const inheriting = {
      ...revision,
      content: { ...revision.content, write: { objects: [{ ...written!, inheritMapping: true }] } },
    };
    const without = (selectedFieldMappings: Record<string, string>) => {
      const chosen = {
        ...draft,
        read: { objects: { contacts: { objectName: 'contacts', selectedFieldMappings } } },
      };
      return withoutObject(chosen, object, { revision: inheriting, saved: draft }).read?.objects['contacts'];
    };
    expect(without({ nickname: 'firstname' })).toMatchObject({
      disabled: true,
      selectedFieldMappings: { nickname: 'firstname' },
    });
    expect(without({ phone: 'phone' })).toBeUndefined();
  });

  it('finds what svc refuses where the form has no field for it', () => {
    const said = { said: 'No.' };
    const form = { draft: firstDraft(revision), revision, offered: {}, canFilter: false };
    const shownAt = ['read/contacts', 'write/contacts'];
    const hidden = [
      'read/gone',
      'read/contacts/filter/0',
      'read/contacts/mapping/x',
      'write/contacts/settings/x',
      'write/deals',
    ];
    const issues = [...shownAt, ...hidden].map((at) => ({ at, text: said }));
    expect(issuesNowhere(issues, form).map(({ at }) => at)).toEqual(hidden);
    const declined = withoutObject(form.draft, read('deals'), { revision, saved: draft });
    expect(issuesNowhere([{ at: 'read/deals', text: said }], { ...form, draft: declined })).toHaveLength(1);
  });

  it('tells what is refused in particular where the sentence does not have it', () => {
    const issues = [{ in: 'body', name: 'config.content.proxy', detail: 'is not offered' }] as const;
    const error = new SvcError({
      code: 'config-invalid',
      status: 422,
      detail: 'Not so.',
      issues: [...issues],
    });
    expect(shown(createElement(Failure, { error }))).toContain('Not so. is not offered');
  });

  it('lists what the manifest no longer has and is read all the same, with a way to end it', () => {
    const calls = { calls: { objectName: 'calls' } };
    const left = { revision, isSaving: false, onStop: nothing, states: [stateOf('idle')] };
    const page = shown(
      createElement(LeftObjects, { ...left, content: { ...draft, read: { objects: calls } } }),
    );
    expect(page).toContain('No longer offered; still read');
    expect(page).toContain('Stop reading calls');
    const written = shown(
      createElement(LeftObjects, { ...left, content: { ...draft, write: { objects: calls } } }),
    );
    expect(written).toContain('No longer offered; perhaps still written');
    expect(written).not.toContain('Stop reading');
    expect(shown(createElement(LeftObjects, { ...left, content: firstDraft(revision) })).trim()).toBe('');
  });

  it('says of what a deploy took away that it is not read any more, and nothing that nobody knows', () => {
    const calls = { objectName: 'calls', selectedFields: { id: true } };
    const content = { ...draft, read: { objects: { calls } } };
    const page = (states: ReadState[] | undefined) =>
      shown(createElement(LeftObjects, { revision, content, states, isSaving: false, onStop: nothing }));
    const ended = page([stateOf('removed')]);
    expect(ended).toContain('No longer offered, and not read any more');
    expect(ended).not.toContain('Stop reading');
    const paused = { ...stateOf('paused'), paused: { since: '', reason: 'installation' as const } };
    for (const states of [undefined, [], [paused]]) {
      expect(page(states)).toContain('No longer offered; perhaps still read');
      expect(page(states)).toContain('Stop reading calls');
    }
    // Where it may be written still, its row says nothing of reading.
    const kept = { ...draft, read: { objects: { contacts: { objectName: 'contacts' } } } };
    const gone = { ...revision, content: { ...revision.content, read: { objects: [] } } };
    const review = shown(createElement(ReviewPanel, { ...reviewed, revision: gone, draft: kept }));
    expect(review).not.toContain('Read');
  });

  const numbered = (): HydratedRevision => {
    const types = { email: 'string', score: 'float', seats: 'int' } as const;
    const all = Object.entries(types).map(([fieldName, valueType]) => [
      fieldName,
      { fieldName, displayName: fieldName, valueType },
    ]);
    const contacts = { ...read('contacts'), allFieldsMetadata: Object.fromEntries(all) };
    return { ...revision, content: { ...revision.content, read: { objects: [contacts] } } };
  };
  it.each([
    ['score', 'abc', 'numberNeeded'],
    ['score', '1,5', 'numberNeeded'],
    ['score', '-1.5', undefined],
    ['seats', '1.5', 'integerNeeded'],
    ['seats', '12345678901234567890', undefined],
    ['email', 'abc', undefined],
  ])('takes numbers for a field of numbers: %s %s', (name, text, wrong) => {
    const settings = { [name]: { default: { stringValue: text } } };
    const contacts = { objectName: 'contacts', selectedFieldSettings: settings };
    const ruled: ConfigContent = { ...draft, write: { objects: { contacts } } };
    const at = `write/contacts/settings/${name}`;
    expect(issuesOf(ruled, numbered(), {})).toEqual(wrong ? [{ at, text: wrong }] : []);
    const filter = { fieldName: name, operator: 'eq' as const, value: text };
    const filtered = applyEdit(firstDraft(numbered()), {
      on: 'read',
      object: 'contacts',
      set: { kind: 'filters', filters: [filter] },
    });
    expect(issuesOf(filtered, numbered(), {}).map((issue) => issue.text)).toEqual(wrong ? [wrong] : []);
  });

  it('marks a filter by a field that the account does not have any more', () => {
    const filter = (fieldName: string) => ({ fieldName, operator: 'eq' as const, value: 'x' });
    const [object] = numbered().content.read!.objects;
    const page = shown(
      createElement(Filters, {
        object: object!,
        choices: [],
        filters: [filter('shirt_size'), filter('Email')],
        set: nothing,
        issuesAt: () => [],
      }),
    );
    expect(page.match(/The field “.*” is not in your account any more/g)).toEqual([
      'The field “shirt_size” is not in your account any more',
    ]);
  });
});
