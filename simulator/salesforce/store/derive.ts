import { stages } from '../schema/objects.ts';
import type { SObject } from '../schema/object-types.ts';
import { sequenceOf, type Row, type Store, type Value } from './store.ts';

type Draft = Record<string, Value>;

/** Sets the columns Salesforce computes from others: full names, closed flags, case numbers. */
export function derive(
  store: Store,
  object: SObject,
  draft: Draft,
  before: Row | undefined,
  stamp: string,
): void {
  if (object.byName.has('lastname')) {
    draft['Name'] = [draft['FirstName'], draft['LastName']].filter(Boolean).join(' ');
  } else if (object.custom && !draft['Name']) {
    draft['Name'] = draft['Id'] ?? null;
  }
  switch (object.name) {
    case 'Opportunity':
      deriveOpportunity(draft, before);
      return;
    case 'Case':
      draft['CaseNumber'] ??= String(sequenceOf(store, object) + 999).padStart(8, '0');
      draft['IsClosed'] = draft['Status'] === 'Closed';
      draft['ClosedDate'] = draft['IsClosed'] ? (before?.['ClosedDate'] ?? stamp) : null;
      return;
    case 'CampaignMember':
      draft['Type'] = draft['ContactId'] ? 'Contact' : 'Lead';
      draft['LeadOrContactId'] = draft['ContactId'] ?? draft['LeadId'] ?? null;
      draft['HasResponded'] = draft['Status'] === 'Responded';
      draft['FirstRespondedDate'] = draft['HasResponded']
        ? (before?.['FirstRespondedDate'] ?? stamp.slice(0, 10))
        : null;
      return;
    case 'Task':
      draft['IsClosed'] = draft['Status'] === 'Completed';
      return;
    default:
  }
}

function deriveOpportunity(draft: Draft, before: Row | undefined): void {
  const stage = stages[String(draft['StageName'])];
  draft['IsClosed'] = stage?.closed ?? false;
  draft['IsWon'] = stage?.won ?? false;
  const sameProbability = (draft['Probability'] ?? null) === (before?.['Probability'] ?? null);
  if (draft['StageName'] !== before?.['StageName'] && sameProbability) {
    draft['Probability'] = stage?.probability ?? 0;
  }
}
