import { isObject, objectsOf, rootField, textOf } from '../answer.ts';
import type { SampleReadAbility } from '../connector.ts';
import { invalidCall } from '../failure.ts';
import { get } from './describe.ts';
import { faultOfObjectName, objectPath, propertiesPath } from './paths.ts';

// What fits a URL with room to spare; the names were all checked before.
const mostSampled = 100;

/** Reads ignore a property that does not exist, so the names are compared with the object's properties first. */
export const sampleRead: SampleReadAbility = {
  async sample(client, objectName, fields) {
    const fault = faultOfObjectName(objectName);
    if (fault) return { failure: fault };
    const properties = await get(client, propertiesPath(objectName));
    if ('failure' in properties) return properties;
    const unknown = unknownFields(properties.body, fields);
    if (unknown.length > 0) {
      return {
        failure: invalidCall(
          `the object ${objectName} has no property ${unknown.map((name) => JSON.stringify(name)).join(', ')}`,
        ),
      };
    }
    const query = new URLSearchParams({ limit: '1' });
    if (fields.length > 0) query.set('properties', fields.slice(0, mostSampled).map(rootField).join(','));
    const sampled = await get(client, objectPath(objectName, `?${query.toString()}`));
    return 'failure' in sampled ? sampled : {};
  },
};

function unknownFields(body: unknown, fields: readonly string[]): string[] {
  const properties = isObject(body) ? objectsOf(body['results']) : [];
  const known = new Set(properties.map((property) => (textOf(property['name']) ?? '').toLowerCase()));
  // The record's own id is read as a field, too.
  return fields.filter((name) => name !== 'id' && !known.has(rootField(name).toLowerCase()));
}
