import { invalidCall, type Failure } from '../failure.ts';

/** The API version of every call; Salesforce serves v31.0 and later. */
export const dataApi = '/services/data/v60.0';

/** Salesforce takes a URL of about 16 KB; half of that fits any proxy in between. */
export const longestPath = 8_000;

const apiName = /^[a-z]\w{0,254}$/i;
/** 15 characters, or 18 with the checksum. */
const recordId = /^[a-z0-9]{15}(?:[a-z0-9]{3})?$/i;

export const objectsPath = `${dataApi}/sobjects`;

export function objectPath(objectName: string, rest = ''): string {
  return `${objectsPath}/${checked(objectName, apiName)}${rest}`;
}

export function recordPath(objectName: string, id: string): string {
  return objectPath(objectName, `/${checked(id, recordId)}`);
}

export const collectionPath = `${dataApi}/composite/sobjects`;

/** Of the record that has the value in an external id. */
export function keyPath(objectName: string, field: string, value: string): string {
  if (!isPathValue(value)) throw new Error(`not a path segment: ${JSON.stringify(value)}`);
  return objectPath(objectName, `/${checked(field, apiName)}/${encodeURIComponent(value)}`);
}

export function upsertPath(objectName: string, field: string): string {
  return `${collectionPath}/${checked(objectName, apiName)}/${checked(field, apiName)}`;
}

/**
 * Whether a value of an external id is one segment of a path, whoever reads it on the way. Salesforce takes what stands behind its last
 * dot for a format (`.json`), and looks for the record that has the rest of it.
 */
export function isPathValue(value = ''): boolean {
  return /^[\w@+-]{1,255}$/.test(value);
}

export function isApiName(name: string): boolean {
  return apiName.test(name);
}

export function retrievePath(objectName: string): string {
  return `${collectionPath}/${checked(objectName, apiName)}`;
}

/** `deleted`: of the records in the recycle bin, too. */
export function queryPath(soql: string, deleted = false): string {
  return `${dataApi}/${deleted ? 'queryAll' : 'query'}?q=${encodeURIComponent(soql)}`;
}

/** Query jobs of Bulk API 2.0. */
export const jobsPath = `${dataApi}/jobs/query`;

export function jobPath(id: string, rest = ''): string {
  return `${jobsPath}/${checked(id, recordId)}${rest}`;
}

/** Refuses a name that would change the path. */
export function faultOfObjectName(objectName: string): Failure | undefined {
  if (apiName.test(objectName)) return undefined;
  return invalidCall(`${JSON.stringify(objectName)} is not the API name of a Salesforce object`);
}

/** Salesforce refuses a whole read for one id of another form. */
export function faultOfId(id: string | undefined): Failure | undefined {
  if (id === undefined || id === '') return invalidCall('the id of the record is missing');
  if (recordId.test(id)) return undefined;
  return invalidCall(
    `${JSON.stringify(id)} is not a Salesforce record id, which has 15 or 18 letters and digits`,
  );
}

/** A field, or one of a parent through its relationship: `Email`, `Account.Name`. */
export function isFieldName(name: string): boolean {
  return name.split('.').every((part) => apiName.test(part));
}

/** A query for another name is not built. */
export function faultOfField(name: string): Failure | undefined {
  if (isFieldName(name)) return undefined;
  return invalidCall(`${JSON.stringify(name)} is not the API name of a Salesforce field, and cannot be read`);
}

function checked(text: string, form: RegExp): string {
  if (!form.test(text)) throw new Error(`not a path segment: ${JSON.stringify(text)}`);
  return encodeURIComponent(text);
}
