import { bodyOf, isObject, isSuccess, objectsOf, pickFields } from '../answer.ts';
import type { CurrentFieldsAbility } from '../connector.ts';
import { failureOf, failureOfEntry } from './failure.ts';
import { objectPath } from './paths.ts';
import { recordsIn } from './records.ts';

/** One batch read of up to 100 ids, for ifEmpty. */
export const currentFields: CurrentFieldsAbility = {
  build: (objectName, ids, fields) => ({
    method: 'POST',
    path: objectPath(objectName, '/batch/read'),
    body: { inputs: ids.map((id) => ({ id })), properties: fields },
  }),
  judge(ids, fields, answer) {
    const body = isSuccess(answer) ? bodyOf(answer) : undefined;
    const results = isObject(body) ? recordsIn(body['results']) : undefined;
    if (!isObject(body) || !results) return { failure: failureOf(answer) };
    // A missing id is an entry under `errors`; any other entry leaves records unread.
    const failures = objectsOf(body['errors']).map((entry) => failureOfEntry(entry, answer.status));
    const failure = failures.find((one) => one.category !== 'notFound');
    if (failure) return { failure };
    const asked = new Set(ids);
    const read = results.flatMap(({ id, properties }) =>
      asked.has(id) ? [[id, pickFields(properties, fields)] as const] : [],
    );
    return { found: new Map(read) };
  },
  isEmpty: (value) => value === undefined || value === null || value === '',
};
