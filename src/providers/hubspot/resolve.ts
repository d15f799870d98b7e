import { bodyOf, comparable, isObject, isSuccess, objectsOf, pickFields, textOf } from '../answer.ts';
import type { ResolveAbility, StandingRecord } from '../connector.ts';
import { failureOf, failureOfEntry } from './failure.ts';
import { objectPath } from './paths.ts';
import { recordsIn } from './records.ts';

// Further addresses of a contact: a read by email finds the contact by them, too.
const moreEmails = 'hs_additional_emails';

/** Batch read by a unique property, which sees what is written at once; the search index lags. */
export const resolve: ResolveAbility = {
  settleMs: 3_000,
  // HubSpot's network gives a request up after 100 seconds (524; facts.md).
  longestRequestMs: 100_000,
  seesAll: true,
  createdPrecisionMs: 1,
  valuesPerRead: 100,
  uniqueFields(objectName, description) {
    const known = description?.uniqueFields ?? [];
    const isContact = /^(?:contacts?|0-1)$/i.test(objectName);
    // A contact's email is unique whatever its metadata says.
    const named = known.some(({ name }) => name === 'email');
    return isContact && !named ? [...known, { name: 'email', enforced: true }] : known;
  },
  build: (objectName, by, values, fields) => ({
    method: 'POST',
    path: objectPath(objectName, '/batch/read'),
    body: {
      idProperty: by,
      inputs: values.map((id) => ({ id })),
      properties: [...new Set([by, ...(by === 'email' ? [moreEmails] : []), ...fields])],
    },
  }),
  judge(by, values, fields, answer) {
    const body = isSuccess(answer) ? bodyOf(answer) : undefined;
    const results = isObject(body) ? recordsIn(body['results']) : undefined;
    if (!isObject(body) || !results) return { failure: failureOf(answer) };
    const failures = objectsOf(body['errors']).map((entry) => failureOfEntry(entry, answer.status));
    const failure = failures.find((one) => one.category !== 'notFound');
    if (failure) return { failure };
    const found = new Map<string, StandingRecord[]>();
    for (const { id: recordId, properties, raw } of results) {
      const createdAt = Date.parse(textOf(raw['createdAt']) ?? '');
      const own = [properties[by], ...emailsIn(properties[moreEmails])].map(comparable);
      const keys = own.filter((one) => one !== undefined);
      const asked = values.filter((one) => own.includes(comparable(one)));
      if (Number.isNaN(createdAt)) return { failure: failureOf(answer) };
      // It is not known which of the values stands there, or the answer is another one's.
      if (asked.length === 0)
        return {
          untold: { ...failureOf(answer), message: `HubSpot answered with a record of another ${by}` },
        };
      // A property without a value may be left away.
      const unset = Object.fromEntries(fields.map((name) => [name, null]));
      const standing = { recordId, createdAt, keys, fields: { ...unset, ...pickFields(properties, fields) } };
      for (const value of asked) found.set(value, [...(found.get(value) ?? []), standing]);
    }
    return { found };
  },
};

function emailsIn(value: unknown): string[] {
  return textOf(value)?.split(';') ?? [];
}
