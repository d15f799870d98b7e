import { describe, expect, it } from 'vitest';
import type { HydratedReadObject, HydratedRevision } from '../../client/src/index.ts';
import { offeredIn, takenIn } from '../src/state/offered.ts';
import { mappingQuestions } from '../src/state/questions.ts';

const stage = { mapToName: 'stage', mappedValues: [{ mappedValue: 'new', mappedDisplayValue: 'New' }] };

describe('ui/embed/offered', () => {
  it('takes what is whole as it is', () => {
    const given = { contacts: [{ ...stage, prompt: 'Which?' }], deals: [] };
    expect(offeredIn(given)).toEqual({ value: given, faults: [] });
    expect(offeredIn(undefined)).toEqual({ value: {}, faults: [] });
  });

  it.each([
    [null, [], []],
    [{ contacts: null }, [], ['']],
    [{ contacts: [{}, null, stage] }, [stage], ['[0].mapToName', '[1].mapToName']],
    [{ contacts: [{ mapToName: 'a', prompt: {} }] }, [], ['[0].prompt']],
    [
      { contacts: [{ mapToName: 'a', mappedValues: 'a' }] },
      [{ mapToName: 'a', mappedValues: [] }],
      ['[0].mappedValues'],
    ],
    [
      { contacts: [{ mapToName: 'a', mappedValues: [{ mappedValue: 'n' }, null, ...stage.mappedValues] }] },
      [{ ...stage, mapToName: 'a' }],
      [
        '[0].mappedValues[0].mappedDisplayValue',
        '[0].mappedValues[1].mappedValue',
        '[0].mappedValues[1].mappedDisplayValue',
      ],
    ],
  ])('leaves out what is none of %j, and says where', (given, whole, paths) => {
    const { value, faults } = offeredIn(given);
    expect(value['contacts'] ?? []).toEqual(whole);
    const said = faults.map((fault) => fault.replace(/^fieldMapping\.contacts(.*) is no (text|list)$/, '$1'));
    expect(said).toEqual(paths);
  });

  it('asks once for a name that the manifest or another mapping has, and says so', () => {
    const object: HydratedReadObject = {
      objectName: 'contacts',
      displayName: 'Contacts',
      requiredFields: [{ mapToName: 'Stage' }],
      optionalFields: [{ fieldName: 'mobilephone', mapToName: 'phone' }],
    };
    const offered = [stage, { mapToName: 'phone' }, { mapToName: 'role' }, { mapToName: 'Role' }];
    expect(mappingQuestions(object, offered).map(({ mapToName }) => mapToName)).toEqual(['Stage', 'role']);
    const revision = { content: { read: { objects: [object] } } } as HydratedRevision;
    expect(takenIn(revision, { contacts: offered })).toEqual([
      'fieldMapping.contacts: "stage" is asked for already',
      'fieldMapping.contacts: "phone" is asked for already',
      'fieldMapping.contacts: "Role" is asked for already',
    ]);
  });
});
