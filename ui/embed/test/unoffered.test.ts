import { createElement, type ReactNode } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { describe, expect, it } from 'vitest';
import type { ConfigContent, HydratedReadObject, ReadObjectConfig } from '../../client/src/index.ts';
import { ReadPanel } from '../src/components/read-panel.tsx';
import { readConfigOf } from '../src/state/draft.ts';
import {
  mappingQuestions,
  unofferedFields,
  unofferedMappings,
  vanishedFields,
  withMapping,
  withoutMapping,
} from '../src/state/questions.ts';
import { Root } from '../src/text/index.tsx';

const labels = { email: 'Email', city: 'City', jobtitle: 'Job Title', stage: 'Stage', firstname: 'First' };
const object: HydratedReadObject = {
  objectName: 'contacts',
  displayName: 'People',
  requiredFields: [{ fieldName: 'email' }, { mapToName: 'phone' }],
  optionalFields: [{ fieldName: 'firstname', displayName: 'First' }],
  allFieldsMetadata: Object.fromEntries(
    Object.entries(labels).map(([fieldName, displayName]) => [
      fieldName,
      { fieldName, displayName, valueType: 'string' as const },
    ]),
  ),
};
const config: ReadObjectConfig = {
  objectName: 'contacts',
  selectedFields: { City: true, email: true, firstname: true, gone: true, stage: false, "$['a']['b']": true },
  selectedFieldMappings: { phone: 'city', nick: 'jobtitle', level: 'stage', step: 'stage' },
  selectedValueMappings: { jobtitle: { boss: 'ceo' }, stage: { won: 'customer' } },
};
const draft: ConfigContent = { provider: 'hubspot', read: { objects: { contacts: config } } };
const shown = (page: ReactNode): string =>
  renderToStaticMarkup(
    createElement(Root, { language: 'en', appName: 'Mailmonkey', children: page }),
  ).replace(/<[^>]*>/g, '\n');

describe('ui/embed/unoffered', () => {
  it('finds the fields that are read and not offered, apart from those that the account lacks', () => {
    expect(unofferedFields(object, config).map(({ fieldName }) => fieldName)).toEqual([
      'City',
      "$['a']['b']",
    ]);
    expect(vanishedFields(object, config)).toEqual(['gone']);
    expect(unofferedFields(object, { ...config, selectedFieldsAuto: 'all' })).toEqual([]);
    expect(unofferedFields({ ...object, allFieldsMetadata: undefined! }, config)).toEqual([]);
  });

  it('finds what is matched and not asked for, and leaves it out with its values', () => {
    const questions = mappingQuestions(object, [{ mapToName: 'level' }]);
    expect(unofferedMappings(object, questions, config)).toEqual([
      { mapToName: 'nick', label: 'nick', field: 'Job Title' },
      { mapToName: 'step', label: 'step', field: 'Stage' },
    ]);
    const named = { ...config, dynamicMappingsInput: [{ mapToName: 'nick', mapToDisplayName: 'Nickname' }] };
    expect(unofferedMappings(object, questions, named)[0]?.label).toBe('Nickname');
    const without = (mapToName: string) =>
      readConfigOf(withoutMapping(draft, 'contacts', mapToName), 'contacts');
    expect(without('nick')).toEqual({
      ...config,
      selectedFieldMappings: { phone: 'city', level: 'stage', step: 'stage' },
      selectedValueMappings: { stage: { won: 'customer' } },
    });
    expect(without('step')?.selectedValueMappings).toEqual(config.selectedValueMappings);
    expect(without('phone')?.selectedValueMappings).toEqual(config.selectedValueMappings);
  });

  it.each(['city', 'jobtitle', undefined])(
    'leaves out the values of a field that nobody translates any more, with the choice of %s',
    (fieldName) => {
      // The builder took the values of both away; what stands under the other one stays.
      const questions = mappingQuestions(object, [{ mapToName: 'nick' }, { mapToName: 'level' }]);
      const chosen = (mapToName: string) => {
        const question = questions.find((one) => one.mapToName === mapToName)!;
        return readConfigOf(withMapping(draft, object, questions, { question, fieldName }), 'contacts');
      };
      expect(chosen('nick')?.selectedFieldMappings?.['nick']).toBe(fieldName);
      expect(chosen('nick')?.selectedValueMappings).toEqual({ stage: { won: 'customer' } });
      expect(chosen('level')?.selectedValueMappings).toEqual(config.selectedValueMappings);
    },
  );

  it('shows both on the page of the object, to be left out', () => {
    const nothing = (): void => undefined;
    const page = shown(
      createElement(ReadPanel, {
        object,
        draft,
        canFilter: false,
        isNew: false,
        edit: nothing,
        change: nothing,
        issuesAt: () => [],
      }),
    );
    expect(page).toContain('Shared, though it is not offered: City');
    expect(page).toMatch(/City\n[^]*Not offered\n/);
    expect(page).toContain('Leave out nick');
    expect(page).not.toContain('Leave out phone');
  });
});
