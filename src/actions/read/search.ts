import { problemOfFailure } from '../../installations/index.ts';
import type { EffectiveReadObject } from '../../installations/index.ts';
import { problem, type Problem } from '../../kit/problem.ts';
import type { Principal } from '../../projects/index.ts';
import { fieldNamed, type Failure, type ObjectDescription, type ReadQuery } from '../../providers/index.ts';
import { decideFor, refuseDead } from '../target.ts';
import { anyTimeMs, askableNow } from './askable.ts';
import { firstFound } from './first-found.ts';
import type { ReadDeps } from './prepare.ts';
import { readableObject } from './request.ts';
import type { SearchRequest, SearchResult } from './schema.ts';
import { shapeOf } from './shape.ts';

/** The first page of records that pass the filters, mapped as they are delivered. */
export async function searchRecords(
  deps: ReadDeps,
  principal: Principal,
  address: { projectIdOrName: string; integrationId: string; groupRef: string },
  { objectName, fieldFilters }: SearchRequest,
): Promise<SearchResult> {
  const { target, asked } = await decideFor(deps, principal, address, (found) => {
    const object = readableObject(found, objectName);
    refuseDead(found);
    return { target: found, asked: object };
  });
  const { read, client, object } = await askableNow(deps, target, asked.objectName, problemOf);
  const filters = namedByProvider(asked, object, fieldFilters);
  const shape = shapeOf(asked, object);
  const until = Date.now() + anyTimeMs;
  const query: ReadQuery = { object, fields: shape.fields, until, filters, deleted: false };
  const refused = read.refusal(query);
  if (refused) throw problemOf(refused);
  const fetched = await firstFound({ read, client, mayStillSend: () => true }, undefined, query);
  if ('failure' in fetched) throw problemOf(fetched.failure);
  const { records, next } = fetched.page;
  const results = records.map((record) => Object.assign({ id: record.id }, shape.entryOf(record)));
  return { results, result: results, ...(next === undefined ? {} : { hasMore: true }) };
}

type FilterValue = SearchRequest['fieldFilters'][number]['value'];

/** The provider's value for one that is delivered in its place. */
function providedValue(
  { valueMappings }: EffectiveReadObject,
  fieldName: string,
  value: FilterValue,
): FilterValue {
  const lower = fieldName.toLowerCase();
  const values = Object.entries(valueMappings).find(([name]) => name.toLowerCase() === lower)?.[1];
  const text = String(value);
  return values && Object.hasOwn(values, text) ? (values[text] ?? value) : value;
}

/** Filters may name fields and values as the builder does. */
function namedByProvider(
  asked: EffectiveReadObject,
  object: ObjectDescription,
  filters: SearchRequest['fieldFilters'],
): SearchRequest['fieldFilters'] {
  const { mappings, objectName } = asked;
  const byBuilder = new Map(
    Object.entries(mappings).map(([mapToName, name]) => [mapToName.toLowerCase(), name]),
  );
  const named = filters.map((filter) => {
    const fieldName = byBuilder.get(filter.fieldName.toLowerCase()) ?? filter.fieldName;
    return { ...filter, fieldName, value: providedValue(asked, fieldName, filter.value) };
  });
  const issues = named.flatMap(({ fieldName }, at) =>
    fieldNamed(object, fieldName)
      ? []
      : [
          {
            in: 'body' as const,
            name: `fieldFilters[${at}].fieldName`,
            detail: `the object ${objectName} has no such field`,
            value: filters[at]?.fieldName,
          },
        ],
  );
  if (issues.length > 0) throw problem('filter-invalid', { issues });
  return named;
}

function problemOf(failure: Failure): Problem {
  return problemOfFailure(failure, { what: 'The search failed', invalid: 'filter-invalid' });
}
