import { describe, expect, it } from 'vitest';
import type {
  ConfigContent,
  FieldMetadata,
  HydratedReadObject,
  HydratedRevision,
} from '../../client/src/index.ts';
import { applyEdit, readConfigOf, writeConfigOf, type ReadEdit } from '../src/state/draft.ts';
import { issuesNowhere } from '../src/state/nowhere.ts';
import { exampleOf, sentValues } from '../src/state/preview.ts';
import {
  firstDraft,
  mappingQuestions,
  translatedBy,
  unofferedFields,
  unofferedMappings,
  withMapping,
  withoutMapping,
  withoutObject,
} from '../src/state/questions.ts';
import { ruledFields } from '../src/state/rules.ts';
import { differences, issuesOf, masksOf, mergeDrafts } from '../src/state/save.ts';

const fieldOf = (fieldName: string): FieldMetadata => ({
  fieldName,
  displayName: fieldName.toUpperCase(),
  valueType: 'string',
});
const ofFields = (...names: string[]) => Object.fromEntries(names.map((name) => [name, fieldOf(name)]));
const revisionOf = (object: HydratedReadObject): HydratedRevision => ({
  id: 'r1',
  specVersion: '1.0.0',
  createTime: '2026-01-01T00:00:00Z',
  content: {
    name: 'crm',
    provider: 'hubspot',
    read: { objects: [object] },
    write: { objects: [{ ...object, inheritMapping: true }] },
  },
});
const nothing: ConfigContent = { provider: 'hubspot' };
const reading = (draft: ConfigContent, object: string, set: ReadEdit) =>
  applyEdit(draft, { on: 'read', object, set });

/** Names that every record answers to; a customer's or a builder's may be called so. */
const names = Object.getOwnPropertyNames(Object.prototype);

describe.each(names)('ui/embed/names: %s', (name) => {
  it('is asked for as a mapping, and matched to nothing until somebody does', () => {
    const values = [{ mappedValue: name, mappedDisplayValue: name }];
    const offered = { contacts: [{ mapToName: 'stage', mappedValues: values }, { mapToName: 'mail' }] };
    const object: HydratedReadObject = {
      objectName: 'contacts',
      displayName: 'Contacts',
      requiredFields: [{ mapToName: name }],
      allFieldsMetadata: ofFields('city', 'email'),
    };
    const revision = revisionOf(object);
    const mail = { kind: 'mapping', mapToName: 'mail', fieldName: 'email' } as const;
    const first = reading(firstDraft(revision, offered), 'contacts', mail);
    const questions = mappingQuestions(object, offered.contacts);
    const [question] = questions;
    const config = readConfigOf(first, 'contacts');
    expect(config?.selectedFieldMappings).toEqual({ mail: 'email' });
    const at = `read/contacts/mapping/${name}`;
    const issues = issuesOf(first, revision, offered);
    expect(issues).toEqual([{ at, text: 'mappingMissing' }]);
    expect(issuesNowhere(issues, { draft: first, revision, offered, canFilter: true })).toEqual([]);
    expect(translatedBy(question!, questions, config)).toBeUndefined();
    expect(withoutMapping(first, 'contacts', name)).toEqual(
      reading(first, 'contacts', { kind: 'mapping', mapToName: name, fieldName: undefined }),
    );
    const off = withoutObject(first, object, { revision, saved: nothing });
    expect(readConfigOf(off, 'contacts')).toBeUndefined();
    const matched = withMapping(first, object, questions, { question: question!, fieldName: 'city' });
    expect(issuesOf(matched, revision, offered)).toEqual([]);
    expect(unofferedMappings(object, questions, readConfigOf(matched, 'contacts'))).toEqual([]);
    const written = { revision, draft: matched, objectName: 'contacts' };
    expect(Object.entries(exampleOf(written, undefined, 'x'))).toContainEqual([name, 'x']);
    expect(ruledFields(written)[0]).toMatchObject({ name, field: { fieldName: 'city' } });
    expect(
      withoutMapping(matched, 'contacts', name).read?.objects['contacts']?.selectedFieldMappings,
    ).toEqual({ mail: 'email' });
  });

  it('is a field that the account has, or has not', () => {
    const object: HydratedReadObject = {
      objectName: 'contacts',
      displayName: 'Contacts',
      allFieldsMetadata: ofFields('city'),
    };
    const withIt = { ...object, allFieldsMetadata: ofFields('city', name) };
    const chosen = {
      objectName: 'contacts',
      selectedFieldMappings: { ours: name },
      selectedFields: { city: true },
    };
    const left = (of: HydratedReadObject) => unofferedMappings(of, [], chosen)[0]?.field;
    expect([left(object), left(withIt)]).toEqual([name, name.toUpperCase()]);
    expect(
      unofferedFields(object, { objectName: 'contacts', selectedFields: ofFields(name) as never }),
    ).toEqual([]);
    const filtered = reading(nothing, 'contacts', {
      kind: 'filters',
      filters: [{ fieldName: name, operator: 'eq', value: 'x' }],
    });
    const [issue, ...others] = issuesOf(filtered, revisionOf(object), {});
    expect([issue?.text, others]).toEqual(['nothingChosen', []]);
    const written = { revision: revisionOf(object), draft: nothing, objectName: 'contacts' };
    const plan = { records: [{ fields: {} }] } as never;
    expect(sentValues(written, Object.fromEntries([[name, 'x']]), { create: plan, update: plan })).toEqual([
      { key: name, label: name, create: undefined, update: undefined, onlyIfEmpty: false },
    ]);
  });

  it('is an object, once somebody reads or writes it', () => {
    expect([readConfigOf(nothing, name), writeConfigOf(nothing, name)]).toEqual([undefined, undefined]);
    const object: HydratedReadObject = {
      objectName: name,
      displayName: name,
      allFieldsMetadata: ofFields('city'),
    };
    const draft = firstDraft(revisionOf(object));
    const of = (content: ConfigContent) => [
      Object.entries(content.read?.objects ?? {}),
      Object.entries(content.write?.objects ?? {}),
    ];
    const entries = [[name, { objectName: name }]];
    expect(of(draft)).toEqual([entries, entries]);
    expect(issuesOf(draft, revisionOf(object), {})).toEqual([{ at: `read/${name}`, text: 'nothingChosen' }]);
    expect(masksOf(draft, nothing)).toEqual([
      `config.content.read.objects.${name}`,
      'config.content.write.objects',
    ]);
    expect(masksOf(draft, structuredClone(draft))).toEqual([]);
    expect(differences(draft, nothing)).toEqual([`read/${name}`, `write/${name}`]);
    expect(mergeDrafts(nothing, draft, nothing)).toMatchObject({ kind: 'merged' });
    const merge = mergeDrafts(nothing, draft, nothing);
    expect(merge.kind === 'merged' && of(merge.content)).toEqual([entries, entries]);
    expect(
      of(applyEdit(draft, { on: 'write', object: name, set: { kind: 'enabled', enabled: false } })),
    ).toEqual([entries, []]);
  });
});
