import { rootField } from '../answer.ts';
import type { SampleReadAbility } from '../connector.ts';
import { invalidCall } from '../failure.ts';
import { get } from './describe.ts';
import { faultOfObjectName, isFieldName, queryPath } from './paths.ts';

// A query stands in the URL, of which Salesforce takes about 16 KB.
const fieldsPerQuery = 150;

/** Salesforce itself refuses an unknown object or field: INVALID_TYPE, INVALID_FIELD. */
export const sampleRead: SampleReadAbility = {
  async sample(client, objectName, fields) {
    const fault = faultOfObjectName(objectName);
    if (fault) return { failure: fault };
    const names = [
      ...new Set(['Id', ...fields.map(rootField).filter((name) => name.toLowerCase() !== 'id')]),
    ];
    const unfit = names.filter((name) => !isFieldName(name));
    if (unfit.length > 0) {
      return {
        failure: invalidCall(
          `the object ${objectName} has no field ${unfit.map((name) => JSON.stringify(name)).join(', ')}`,
        ),
      };
    }
    for (let from = 0; from < names.length; from += fieldsPerQuery) {
      const selected = names.slice(from, from + fieldsPerQuery).join(', ');
      const answer = await get(client, queryPath(`SELECT ${selected} FROM ${objectName} LIMIT 1`));
      if ('failure' in answer) return answer;
    }
    return {};
  },
};
