import type { Guide } from '../kit/index.ts';

/** What the page at `/` tells of the simulated Salesforce. */
export const salesforceGuide: Guide = {
  title: 'Simulated Salesforce',
  accounts: [
    'One org, with the user `admin@salesforce.example`; the consent page takes any other name and makes a user of it.',
    'Any client id and secret are accepted until one is registered (`POST /__sim/apps`); from then on only those that are, each held to what it says. A reset ends that. The workspace may be any My Domain.',
    'Authorize at `/services/oauth2/authorize`, exchange and refresh at `/services/oauth2/token`; sessions end after two idle hours.',
    'REST, composite, query and Bulk 2.0 under `/services/data/vNN.0`: Account, Contact, Lead, Opportunity, Case, Task, Campaign and more, and `BigTable__c` with 6,001 rows.',
  ],
  firstCall: '/services/data/v60.0/query?q=SELECT+Id,Name+FROM+Contact+LIMIT+3',
  quotas: { dailyApiRequests: 100_000, usedApiRequests: 0 },
  schema: {
    about:
      'Adds `fields` to objects, makes custom `objects`, or takes fields away (`remove`) as field-level security does.',
    example: { fields: { Contact: [{ name: 'Heat__c', type: 'picklist', picklist: ['h', 'c'] }] } },
  },
  data: {
    about:
      'Creates, updates or deletes (`action`) records; read-only columns such as `CreatedDate` and `SystemModstamp` are taken, too. With `commitAfterMs` the change carries the stamps of now and shows only later, as that of a long transaction; its records are locked meanwhile.',
    example: {
      object: 'Lead',
      records: [{ LastName: 'Old', Company: 'X', CreatedDate: '2020-01-01T00:00:00Z' }],
      commitAfterMs: 0,
    },
    listPath: '/query',
  },
  settings: {
    sessionTimeoutMs: 'Life of a session; each use in its second half renews it.',
    rotation: 'A refresh answers a new refresh token and ends the old one.',
    duplicateRules:
      'Rules `{name, object, fields, mode, onUpdate?}`: `alert` can be saved over, `block` not; `onUpdate` may also be `allow`.',
    locks: 'Writes that meet `UNABLE_TO_LOCK_ROW`: `{id?, object?, times}`.',
    bulkPolls: 'How many reads of a bulk job still find it in progress.',
    bulkFailures: 'Bulk jobs that fail: `{kind?, object?, times, message?}`.',
    bulkLifeMs: 'Life of a bulk job and its results.',
    bulkResultPage: 'Rows in one page of bulk results when the caller names no number.',
    queryLocatorMs: 'Life of a query locator.',
    queryLocators: 'Most open query locators; the oldest goes first.',
    privateObjects:
      'Objects whose records only their owners can query and read, as with private sharing. Unique fields hold among all records.',
  },
};
