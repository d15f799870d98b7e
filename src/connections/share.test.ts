import { expect, it } from 'vitest';
import { loadCatalog } from '../providers/index.ts';
import { shareOf } from './share.ts';

it.each([
  ['hubspot', 'https://api.hubapi.com', ['https://api.hubapi.com']],
  ['jira', 'https://api.atlassian.com', ['https://api.atlassian.com']],
  ['salesforce', 'https://acme.my.salesforce.com', ['salesforce', 'https://acme.my.salesforce.com']],
  ['gong', 'https://acme.api.gong.io', ['gong', 'https://acme.api.gong.io']],
])('src/connections/share > the calls of %s to %s share %j', (name, origin, share) => {
  expect(shareOf(loadCatalog().get(name), origin)).toEqual(share);
});
