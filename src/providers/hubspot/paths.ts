import { invalidCall, type Failure } from '../failure.ts';

// One version per API area. v3 is the family whose answers were recorded; it is served until September 2027.
const objectsApi = '/crm/v3/objects';
const associationsApi = '/crm/v4/associations';
const propertiesApi = '/crm/v3/properties';
export const schemasPath = '/crm-object-schemas/v3/schemas';

// Object names: `contacts`, `CONTACT`, `0-1`, `2-123456`, `p123_name`. Ids are numeric so far; HubSpot does not promise it.
const segment = /^[\w-]{1,200}$/;
/** The id of a record that is read. */
export const recordId = /^\d{1,30}$/;

export function objectPath(objectName: string, rest = ''): string {
  return `${objectsApi}/${checked(objectName)}${rest}`;
}

export function recordPath(objectName: string, id: string): string {
  return objectPath(objectName, `/${checked(id)}`);
}

export function associationsPath(from: string, to: string): string {
  return `${associationsApi}/${checked(from)}/${checked(to)}/batch/read`;
}

export function propertiesPath(objectName: string): string {
  return `${propertiesApi}/${checked(objectName)}`;
}

export function schemaPath(objectName: string): string {
  return `${schemasPath}/${checked(objectName)}`;
}

/** Refuses a name that would change the path. */
export function faultOfObjectName(objectName: string): Failure | undefined {
  if (segment.test(objectName)) return undefined;
  return invalidCall(`${JSON.stringify(objectName)} is not the name of a HubSpot object type`);
}

export function faultOfId(id: string | undefined): Failure | undefined {
  if (id === undefined || id === '') return invalidCall('the id of the record is missing');
  return segment.test(id) ? undefined : invalidCall(`${JSON.stringify(id)} is not a HubSpot record id`);
}

function checked(text: string): string {
  if (!segment.test(text)) throw new Error(`not a path segment: ${JSON.stringify(text)}`);
  return encodeURIComponent(text);
}
