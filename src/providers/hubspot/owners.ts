import type { FieldMetadata } from '../schema.ts';

/** The people of an account, to whom records belong. They are no object of the CRM: a list of their own, and nothing else. */
export const owners = 'owners';
export const ownersPath = '/crm/v3/owners';

export function isOwners(objectName: string): boolean {
  return objectName.toLowerCase() === owners;
}

const types: Record<string, FieldMetadata['valueType']> = {
  id: 'string',
  email: 'string',
  type: 'singleSelect',
  firstName: 'string',
  lastName: 'string',
  userId: 'int',
  userIdIncludingInactive: 'int',
  createdAt: 'datetime',
  updatedAt: 'datetime',
  archived: 'boolean',
  teams: 'other',
};

/** Those of every account; nobody adds some. */
export const ownerFields: Record<string, FieldMetadata> = Object.fromEntries(
  Object.entries(types).map(([fieldName, valueType]) => [
    fieldName,
    { fieldName, displayName: displayName(fieldName), valueType, readOnly: true, isCustom: false },
  ]),
);

function displayName(name: string): string {
  const words = name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return words.charAt(0).toUpperCase() + words.slice(1);
}
