import { bodyOf, isObject, isSuccess, pickFields, textOf } from '../answer.ts';
import type { CurrentFieldsAbility } from '../connector.ts';
import { failureOf } from './failure.ts';
import { retrievePath } from './paths.ts';

/** One retrieve of up to 2,000 ids, for ifEmpty. */
export const currentFields: CurrentFieldsAbility = {
  build: (objectName, ids, fields) => ({
    method: 'POST',
    path: retrievePath(objectName),
    body: { ids, fields: [...new Set(['Id', ...fields])] },
  }),
  judge(ids, fields, answer) {
    const items = isSuccess(answer) ? bodyOf(answer) : undefined;
    if (!Array.isArray(items) || items.length !== ids.length) return { failure: failureOf(answer) };
    // In the order of the ids, null for one that is not there; an id of 15 characters comes back with 18.
    if (!items.every((item) => item === null || (isObject(item) && textOf(item['Id']) !== undefined)))
      return { failure: failureOf(answer) };
    const read = ids.flatMap((id, index) => {
      const item: unknown = items[index];
      return isObject(item) ? [[id, pickFields(item, fields)] as const] : [];
    });
    return { found: new Map(read) };
  },
  // Salesforce stores "" as null; false and 0 are values.
  isEmpty: (value) => value === undefined || value === null,
};
