import { writeError, type WriteError } from '../errors.ts';
import { findField, type SObject } from '../schema/object-types.ts';
import { findLive, getRow, lookup, type Store, type Value } from './store.ts';

type Draft = Record<string, Value>;

/** What columns of one record must have to do with each other. */
export function checkRecord(store: Store, object: SObject, draft: Draft): WriteError | undefined {
  return checkRecordType(store, object, draft) ?? checkMember(store, object, draft);
}

/** A record type belongs to one object. */
function checkRecordType(store: Store, object: SObject, draft: Draft): WriteError | undefined {
  const id = draft['RecordTypeId'];
  if (typeof id !== 'string') return undefined;
  const type = findLive(store, id)?.row;
  if (type?.['SobjectType'] === object.name && type['IsActive'] === true) return undefined;
  const message = `Record Type ID: this ID value isn't valid for the user: ${id}`;
  return writeError('INVALID_CROSS_REFERENCE_KEY', message, ['RecordTypeId']);
}

/** A member is a contact or a lead, and the same one only once in a campaign. */
function checkMember(store: Store, object: SObject, draft: Draft): WriteError | undefined {
  if (object.name !== 'CampaignMember') return undefined;
  const named = ['ContactId', 'LeadId'].filter((name) => (draft[name] ?? null) !== null);
  const [name] = named;
  if (named.length !== 1 || !name) {
    const message = 'A campaign member needs either a lead or a contact: [LeadId, ContactId]';
    return writeError('REQUIRED_FIELD_MISSING', message, ['LeadId', 'ContactId']);
  }
  const field = findField(object, name);
  const twin = (field ? lookup(store, object, field, draft[name] ?? null) : []).find(
    (id) => id !== draft['Id'] && getRow(store, object, id)?.['CampaignId'] === draft['CampaignId'],
  );
  return twin ? writeError('DUPLICATE_VALUE', 'Already a campaign member.', []) : undefined;
}
