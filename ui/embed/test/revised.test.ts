import { describe, expect, it } from 'vitest';
import type { ConfigContent, HydratedReadObject, HydratedRevision } from '../../client/src/index.ts';
import { applyEdit } from '../src/state/draft.ts';
import { firstDraft } from '../src/state/questions.ts';
import {
  failureOf,
  issuesLeft,
  leftOut,
  revised,
  undecidedAfter,
  unloadedIn,
  withDescribed,
  worded,
} from '../src/state/revised.ts';
import { planSave } from '../src/state/save.ts';

const fields = (...names: string[]) =>
  Object.fromEntries(
    names.map((name) => [name, { fieldName: name, displayName: name, valueType: 'string' as const }]),
  );
const described = (objectName: string): HydratedReadObject => ({
  objectName,
  displayName: objectName,
  requiredFields: [{ fieldName: 'name' }],
  optionalFields: [{ mapToName: 'city' }],
  allFieldsMetadata: fields('name', 'city'),
});
const failed = (objectName: string): HydratedReadObject => {
  const { allFieldsMetadata: _none, ...rest } = described(objectName);
  return { ...rest, error: `hubspot did not describe ${objectName}: 503` };
};
const revisionOf = (read: HydratedReadObject[], write: string[] = [], id = 'r1'): HydratedRevision => ({
  id,
  specVersion: '1.0.0',
  createTime: '2026-01-01T00:00:00Z',
  content: {
    name: 'crm',
    provider: 'hubspot',
    read: { objects: read },
    write: { objects: write.map((objectName) => ({ objectName, displayName: objectName })) },
  },
});
const all = ['contacts', 'companies'];
const whole = revisionOf(all.map(described), all);
const part = revisionOf([failed('contacts'), described('companies')], all);
const selected = (draft: ConfigContent, object: string): ConfigContent =>
  applyEdit(draft, { on: 'read', object, set: { kind: 'field', fieldName: 'city', selected: true } });

describe('ui/embed/revised', () => {
  it('names what could not be described, and what nobody reads for that', () => {
    expect(unloadedIn(part).map(({ objectName }) => objectName)).toEqual(['contacts']);
    expect(failureOf(part)).toBeUndefined();
    expect(failureOf(revisionOf(all.map(failed)))).toContain('503');
    expect(leftOut(firstDraft(part), part)).toEqual(['contacts']);
    expect(leftOut(firstDraft(whole), part)).toEqual([]);
    const always = { ...failed('contacts'), enabled: 'always' as const };
    expect(leftOut(firstDraft(part), revisionOf([always, described('companies')]))).toEqual([]);
    const written = revisionOf([described('companies')]);
    written.content.write = { objects: [{ objectName: 'deals', displayName: 'deals', error: '503' }] };
    expect([unloadedIn(written).length, leftOut(firstDraft(written), written)]).toEqual([1, []]);
  });

  it('takes up what could not be described as at the beginning, once it is, and nothing that was declined', () => {
    const entered = selected(firstDraft(part), 'companies');
    const undecided = undecidedAfter(undefined, part);
    const arrived = revised(entered, whole, undecided);
    expect(arrived.read?.objects).toMatchObject({
      companies: { selectedFields: { city: true } },
      contacts: { selectedFieldMappings: { city: 'city' } },
    });
    expect(revised(entered, part, undecided)).toBe(entered);
    const later = undecidedAfter(undecided, whole);
    expect(later).toEqual([]);
    // It was described, and is off: it failed afterwards, and is described again.
    expect(revised(entered, whole, undecidedAfter(later, part))).toBe(entered);
  });

  it('leaves out what the manifest no longer has, whatever was entered of it', () => {
    const limited = applyEdit(selected(firstDraft(whole), 'companies'), {
      on: 'write',
      object: 'companies',
      set: { kind: 'deletion', enabled: true },
    });
    const read = revisionOf([described('contacts')], all, 'r2');
    const kept = revised(limited, read, []);
    expect(Object.keys(kept.read?.objects ?? {})).toEqual(['contacts']);
    expect(kept.write).toEqual(limited.write);
    const none = revised(limited, revisionOf([described('contacts')], ['contacts'], 'r2'), []);
    expect(none.write?.objects).toEqual({ contacts: { objectName: 'contacts' } });
    expect(planSave(none, undefined, read)).toMatchObject({ kind: 'create', content: none });
    const issues = ['read/companies', 'read/contacts', 'write/companies/settings/city', 'form'].map((at) => ({
      at,
      text: { said: 'No.' },
    }));
    expect(issuesLeft(issues, read).map(({ at }) => at)).toEqual([
      'read/contacts',
      'write/companies/settings/city',
      'form',
    ]);
  });

  it('tells in its own words what svc found first, and in those of svc what only svc finds', () => {
    const said = (at: string) => ({ at, text: { said: 'No.' } });
    const own = { at: 'read/contacts', text: 'nothingChosen' as const };
    const issues = [said('read/contacts'), said('read/companies'), { ...own, at: 'form' }];
    const known = [own, { ...own, at: 'read/deals' }];
    expect(worded(issues, known)).toEqual([own, issues[1], issues[2]]);
  });

  it('keeps what is known where another object fails the next time, of the same revision only', () => {
    const next = revisionOf([described('contacts'), failed('companies')], all);
    expect(unloadedIn(withDescribed(next, part))).toEqual([]);
    expect(withDescribed(next, part).content.read?.objects).toEqual(whole.content.read?.objects);
    expect(unloadedIn(withDescribed(part, part)).length).toBe(1);
    expect(withDescribed(whole, part)).toBe(whole);
    const newer = { ...part, id: 'r2' };
    expect(withDescribed(newer, whole)).toBe(newer);
  });
});
