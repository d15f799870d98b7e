import type { Guide } from '../kit/index.ts';

/** What the page at `/` tells of the simulated HubSpot. */
export const hubspotGuide: Guide = {
  title: 'Simulated HubSpot',
  accounts: [
    'One account: portal `244001`. The consent page takes any other number as an account of its own, with the same records.',
    'Any client id and secret are accepted until one is registered (`POST /__sim/apps`); from then on only those that are, each held to what it says. A reset ends that. The scopes asked for are granted.',
    'Authorize at `/oauth/authorize`, exchange and refresh at `/oauth/v1/token`; access tokens live 30 minutes (`accessLifeMs`).',
    'The APIs of `/crm/v3`, `/crm/v4` and the dated versions share one store: contacts, companies, deals and all other standard objects.',
  ],
  firstCall: '/crm/v3/objects/contacts?limit=3',
  quotas: { burstMax: 110, searchPerSecond: 5 },
  schema: {
    about: 'Adds properties to an object, or makes custom `objects` in the shape of the schemas API.',
    example: { object: 'contacts', properties: [{ name: 'score', type: 'number', fieldType: 'number' }] },
  },
  data: {
    about:
      'Writes records unchecked: by `id` where it is known, with `createdAt` and `updatedAt` of any time; `delete` archives.',
    example: {
      object: 'contacts',
      records: [
        { properties: { email: 'old@example.com' }, createdAt: '2020-01-01', updatedAt: '2021-01-01' },
      ],
    },
    listPath: '/crm/v3/objects/contacts',
  },
  settings: {
    searchLagMs: 'How long changes and deletions stay unknown to search.',
    searchLagJitterMs: 'Up to so much longer for each change (seeded), so that they come in out of order.',
    freezeIndex: 'Search learns nothing new until this is false again.',
    shuffle: 'Results of a batch come in random order (seeded).',
    echoTraceId: 'Results of a batch carry the `objectWriteTraceId` that was sent.',
    enforceRequired: 'A create without a required property is refused.',
    goneAccounts: 'Accounts whose refresh answers `BAD_HUB`.',
    accessLifeMs: 'How long an access token made from then on is good.',
  },
};
