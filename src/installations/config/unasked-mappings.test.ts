import { describe, expect, it } from 'vitest';
import type { ManifestIntegration } from '../../projects/schema.ts';
import type { ReadObjectConfig } from './schema.ts';
import { unaskedMappings } from './unasked-mappings.ts';

const manifest: ManifestIntegration = {
  name: 'crm',
  provider: 'hubspot',
  read: {
    objects: [
      {
        objectName: 'contacts',
        destination: 'hook',
        optionalFields: [{ fieldName: 'mobilephone', mapToName: 'cell' }, { mapToName: 'phone' }],
      },
      { objectName: 'companies', destination: 'hook', requiredFields: [{ fieldName: 'name' }] },
    ],
  },
};
const warned = (config: Partial<ReadObjectConfig>, objectName = 'contacts') =>
  unaskedMappings({ provider: 'hubspot', read: { objects: { a: { objectName, ...config } } } }, manifest).map(
    ({ message }) => message.replace('config.content.read.objects.a.selectedFieldMappings.', ''),
  );

describe('installations/config/unasked-mappings', () => {
  it.each([
    [{ fon: 'phone' }, ['fon: the integration asks for no mapping "fon"; did you mean "phone"?']],
    [{ Phone: 'phone' }, ['Phone: the integration asks for no mapping "Phone"; did you mean "phone"?']],
    [{ phone: 'phone', cel: 'x' }, ['cel: the integration asks for no mapping "cel"; did you mean "cell"?']],
    [{ phone: 'phone', street: 'x' }, ['street: the integration asks for no mapping "street"']],
    [{ phone: 'mobilephone', cell: 'mobilephone' }, []],
  ])('%j', (selectedFieldMappings, messages) => {
    expect(warned({ selectedFieldMappings })).toEqual(messages);
  });

  it('says nothing of what the customer is offered, or where the integration asks for none', () => {
    const selectedFieldMappings = { street: 'address' };
    expect(warned({ selectedFieldMappings, dynamicMappingsInput: [{ mapToName: 'street' }] })).toEqual([]);
    expect(warned({ selectedFieldMappings }, 'companies')).toEqual([]);
  });

  it('says twenty and no more', () => {
    const selectedFieldMappings = Object.fromEntries(
      Array.from({ length: 5_000 }, (_, index) => [`name${index}`, 'email']),
    );
    expect(warned({ selectedFieldMappings })).toHaveLength(20);
  });
});
