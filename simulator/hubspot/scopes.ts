import { missingScopes } from './errors.ts';
import type { Refusal } from './errors.ts';
import { ACTIVITY_OBJECTS, STANDARD_OBJECTS } from './standard-objects.ts';
import type { ObjectType } from './types.ts';

export type Area = 'objects' | 'schemas';
export type Access = 'read' | 'write';

/** Every scope the simulator asks for. */
export const ALL_SCOPES: string[] = [
  'oauth',
  'tickets',
  'crm.objects.owners.read',
  ...['custom', ...STANDARD_OBJECTS.map((one) => one.plural)].flatMap((name) =>
    ['objects', 'schemas'].flatMap((area) => [`crm.${area}.${name}.read`, `crm.${area}.${name}.write`]),
  ),
];

/** Any one of the answered scopes is enough. */
export function requiredScopes(type: ObjectType, area: Area, access: Access): string[] {
  if (type.plural === 'tickets') return ['tickets'];
  const name = type.custom ? 'custom' : ACTIVITY_OBJECTS.includes(type.plural) ? 'contacts' : type.plural;
  const wanted = [`crm.${area}.${name}.${access}`];
  // Reading property definitions is open to whoever may read the records.
  if (area === 'schemas' && access === 'read')
    wanted.push(`crm.objects.${name}.read`, `crm.objects.${name}.write`);
  return wanted;
}

/** Schema endpoints put the list of scopes at the top of the body, the others under `errors`. */
export function scopeRefusal(granted: string[], wanted: string[], area: Area): Refusal | undefined {
  if (wanted.length === 0 || wanted.some((one) => granted.includes(one))) return undefined;
  return missingScopes(wanted, area === 'objects');
}
