import type { UpsertAbility } from '../connector.ts';
import { invalidCall } from '../failure.ts';
import { isOwners } from './owners.ts';
import { resolve } from './resolve.ts';

/** By a property whose values HubSpot keeps unique. HubSpot itself refuses another, where its properties may not be seen. */
export const upsert: UpsertAbility = {
  identity(objectName, field, description) {
    if (isOwners(objectName)) return { failure: invalidCall('HubSpot takes no writes of owners') };
    const fields = resolve.uniqueFields(objectName, description);
    const own = fields.find(({ name }) => name.toLowerCase() === field.toLowerCase());
    if (own) return { field: own };
    if (!description) return { field: { name: field, enforced: true } };
    const names = fields.map(({ name }) => name).join(', ');
    const others = names === '' ? `none of ${objectName} is` : `those of ${objectName} are ${names}`;
    return {
      failure: invalidCall(`HubSpot does not keep the values of the property ${field} unique; ${others}`),
    };
  },
};
