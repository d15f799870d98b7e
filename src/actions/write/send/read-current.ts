import {
  failureOfRead,
  withheld,
  type CurrentFields,
  type CurrentFieldsAbility,
  type Failure,
} from '../../../providers/index.ts';
import { sendOrExplain } from '../../send.ts';
import type { WriteContext } from './job.ts';
import { readByFields, type ReadOfFields } from './by-fields.ts';
import { halvesOf } from './look-up.ts';

/** What fields of records hold now, and the names that the provider refuses to read; or why that could not be read. */
export type Current = (CurrentFields & Pick<ReadOfFields<unknown>, 'refused'>) | { failure: Failure };

export async function readCurrent(
  ability: CurrentFieldsAbility,
  objectName: string,
  ids: string[],
  fields: string[],
  context: WriteContext,
): Promise<Current> {
  const read = await readByFields(fields, (part) => readPart(ability, objectName, ids, part, context));
  if ('failure' in read) return read;
  const found: CurrentFields['found'] = new Map();
  for (const one of read.found)
    for (const [id, values] of one.found) found.set(id, { ...found.get(id), ...values });
  return { found, merged: mergedIn(read.found), refused: read.refused };
}

/** Records whose answer is too large to be read are asked for in halves. */
async function readPart(
  ability: CurrentFieldsAbility,
  objectName: string,
  ids: string[],
  fields: string[],
  context: WriteContext,
): Promise<CurrentFields | { failure: Failure }> {
  if (!context.mayStillSend()) return { failure: withheld };
  const result = await sendOrExplain(context, ability.build(objectName, ids, fields));
  if ('answer' in result) return ability.judge(ids, fields, result.answer);
  if ('failure' in result) return result;
  if (result.fault.kind !== 'tooLarge' || ids.length < 2) return { failure: failureOfRead(result.fault) };
  const reads: CurrentFields[] = [];
  for (const part of halvesOf(ids)) {
    const read = await readPart(ability, objectName, part, fields, context);
    if ('failure' in read) return read;
    reads.push(read);
  }
  return { found: new Map(reads.flatMap(({ found }) => [...found])), merged: mergedIn(reads) };
}

function mergedIn(reads: readonly CurrentFields[]): Map<string, string> {
  return new Map(reads.flatMap(({ merged = [] }) => [...merged]));
}
