import { isObject } from '../kit/index.ts';
import type { JsonObject } from '../kit/index.ts';
import { strings } from './batch.ts';
import type { Hub } from './hub.ts';
import { newOwner } from './pipeline-data.ts';
import type { Owner } from './pipeline-data.ts';
import { textOf } from './write.ts';

export const OWNERS = 'owners';

/** POST /__sim/data of `owners`: as for records, with the properties of a person; `clear` first removes the present ones. */
export function controlOwners(hub: Hub, input: JsonObject): JsonObject {
  const { portal } = hub;
  if (input['clear'] === true) portal.owners = [];
  const known = new Map(portal.owners.map((one) => [one.id, one]));
  const records: unknown[] = Array.isArray(input['records']) ? input['records'] : [];
  const ids = records.filter(isObject).map((one) => {
    const owner = known.get(textOf(one['id']) ?? '') ?? addOwner(hub);
    Object.assign(owner, one['properties'], {
      updatedAt: textOf(one['updatedAt']) ?? hub.ground.clock.iso(),
    });
    return owner.id;
  });
  for (const id of strings(input['delete'])) {
    const owner = known.get(id);
    if (owner) Object.assign(owner, { archived: true, userId: null, updatedAt: hub.ground.clock.iso() });
  }
  return { object: OWNERS, ids };
}

function addOwner({ portal }: Hub): Owner {
  const owner = newOwner('', '', portal.owners.length);
  portal.owners.push(owner);
  return owner;
}

export function readOwners({ portal }: Hub, id?: string): JsonObject | undefined {
  if (id !== undefined) return portal.owners.find((one) => one.id === id);
  return { count: portal.owners.length, records: portal.owners };
}
