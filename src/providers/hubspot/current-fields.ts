import { bodyOf, isObject, isSuccess, objectsOf, pickFields } from '../answer.ts';
import type { CurrentFields, CurrentFieldsAbility } from '../connector.ts';
import { failureOf, failureOfEntry } from './failure.ts';
import { mergedIds } from './merges.ts';
import { objectPath } from './paths.ts';
import { mergedField } from './read-request.ts';
import { recordsIn } from './records.ts';

/** One batch read of up to 100 ids, for ifEmpty. */
export const currentFields: CurrentFieldsAbility = {
  build: (objectName, ids, fields) => ({
    method: 'POST',
    path: objectPath(objectName, '/batch/read'),
    body: { inputs: ids.map((id) => ({ id })), properties: [...new Set([...fields, mergedField])] },
  }),
  judge(ids, fields, answer) {
    const body = isSuccess(answer) ? bodyOf(answer) : undefined;
    const results = isObject(body) ? recordsIn(body['results']) : undefined;
    if (!isObject(body) || !results) return { failure: failureOf(answer) };
    // A missing id is an entry under `errors`; any other entry leaves records unread.
    const failures = objectsOf(body['errors']).map((entry) => failureOfEntry(entry, answer.status));
    const failure = failures.find((one) => one.category !== 'notFound');
    if (failure) return { failure };
    const found: CurrentFields['found'] = new Map();
    const merged = new Map<string, string>();
    for (const { id, properties } of results) {
      // One that was merged is answered with what came of it.
      const former = mergedIds(properties) ?? [];
      for (const one of former) merged.set(one, id);
      const own = new Set([id, ...former]);
      for (const one of ids.filter((asked) => own.has(asked))) found.set(one, pickFields(properties, fields));
    }
    return { found, merged };
  },
  isEmpty: (value) => value === undefined || value === null || value === '',
};
