import type { Org } from './org.ts';
import { findField, findObject, type SObject } from './schema/object-types.ts';
import { getRow, lookup, nextId, putRow, transaction, type Row } from './store/store.ts';
import { formatDatetime } from './store/times.ts';

/** The user that tokens belong to unless a consent names another. */
export const adminUsername = 'admin@salesforce.example';

/** The user of a name, made on first sight so that any account a consent names can log in. */
export function ensureUser(org: Org, username: string): Row {
  const user = findObject(org.schema, 'User');
  const field = user ? findField(user, 'Username') : undefined;
  if (!user || !field) throw new Error('the schema has no User');
  const [known] = lookup(org.store, user, field, username);
  const row = known ? getRow(org.store, user, known) : undefined;
  return row ?? addUser(org, user, username);
}

function addUser(org: Org, user: SObject, username: string): Row {
  const id = nextId(org.store, user);
  const stamp = formatDatetime(org.createdAt);
  const local = username.split('@')[0] ?? username;
  const lastName = local.charAt(0).toUpperCase() + local.slice(1);
  const row: Row = {
    Id: id,
    Username: username,
    FirstName: 'Sim',
    LastName: lastName,
    Name: `Sim ${lastName}`,
    Email: username.includes('@') ? username : `${username}@salesforce.example`,
    Alias: local.slice(0, 8),
    IsActive: true,
    TimeZoneSidKey: 'Europe/London',
    LocaleSidKey: 'en_GB',
    IsDeleted: false,
    CreatedDate: stamp,
    CreatedById: id,
    LastModifiedDate: stamp,
    LastModifiedById: id,
    SystemModstamp: stamp,
  };
  putRow(org.store, transaction(), user, id, row);
  return row;
}

/** Whether sharing keeps a record from a user. */
export function isHidden(org: Org, userId: string, object: SObject, row: Row): boolean {
  return org.settings.privateObjects.includes(object.name) && row['OwnerId'] !== userId;
}
