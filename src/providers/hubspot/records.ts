import { idOf, isObject, objectsIn, textOf, type JsonObject } from '../answer.ts';

/** A record in an answer of HubSpot. */
interface FoundRecord {
  id: string;
  properties: JsonObject;
  raw: JsonObject;
}

/** The records of a list; undefined for what is no list, and where one of them has no id or no properties. */
export function recordsIn(list: unknown): FoundRecord[] | undefined {
  const records = objectsIn(list)?.map((raw) => {
    const [id, properties] = [idOf(raw['id']), raw['properties']];
    return id !== undefined && isObject(properties) ? { id, properties, raw } : undefined;
  });
  return records?.every((one) => one !== undefined) ? records : undefined;
}

/** Where the rest of a list begins, if there is one. Undefined for a place in another form: without it a read would end before its last page. */
export function restIn({ paging }: JsonObject): { after?: string } | undefined {
  const next = isObject(paging) ? paging['next'] : paging;
  if (next === undefined || next === null) return {};
  const after = isObject(paging) && isObject(next) ? textOf(next['after']) : undefined;
  return after === undefined ? undefined : { after };
}
