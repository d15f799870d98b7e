import type { UpsertAbility } from '../connector.ts';
import { invalidCall } from '../failure.ts';

/** By an external id, or another field that Salesforce looks records up by. */
export const upsert: UpsertAbility = {
  identity(objectName, field, description) {
    // Salesforce itself refuses another.
    if (!description) return { field: { name: field, enforced: false } };
    const fields = description.upsertFields ?? [];
    const own = fields.find(({ name }) => name.toLowerCase() === field.toLowerCase());
    if (own) return { field: own };
    const names = fields.map(({ name }) => name).join(', ');
    const others = names === '' ? 'the object has none' : `those of ${objectName} are ${names}`;
    return {
      failure: invalidCall(
        `${field} is no external id, nor another field that Salesforce looks records up by; ${others}`,
      ),
    };
  },
};
