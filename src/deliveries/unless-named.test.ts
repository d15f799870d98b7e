import { describe, expect, it } from 'vitest';
import { parseAddressRules } from '../kit/http/address.ts';
import { checkAmqp } from './amqp/check.ts';
import type { CheckContext } from './kind.ts';
import { check as checkPostgres } from './postgres/check.ts';
import { checkS3 } from './s3/check.ts';
import { checkSlack } from './slack/check.ts';
import { checkWebhook } from './webhook/check.ts';

function allowing(...entries: string[]): CheckContext {
  const rules = parseAddressRules(entries);
  return { production: true, isAllowed: (host, port) => rules.allows(host, port) };
}

describe('src/deliveries/unless-named', () => {
  it.each([
    [
      'webhook',
      '127.0.0.1:4401',
      (at: CheckContext) => checkWebhook({ url: 'http://127.0.0.1:4401/hook' }, at),
    ],
    ['webhook', 'hooks.local:80', (at: CheckContext) => checkWebhook({ url: 'http://hooks.local/' }, at)],
    ['webhook', '[::1]:4401', (at: CheckContext) => checkWebhook({ url: 'http://[::1]:4401/' }, at)],
    ['slack', '127.0.0.1:4401', (at: CheckContext) => checkSlack({ url: 'http://127.0.0.1:4401/hook' }, at)],
    ['slack', 'chat.local:443', (at: CheckContext) => checkSlack({ url: 'https://chat.local/hook' }, at)],
    [
      's3',
      '127.0.0.1:9000',
      (at: CheckContext) =>
        checkS3({ bucket: 'all-of-it', region: 'a', endpointUrl: 'http://127.0.0.1:9000' }, at),
    ],
    [
      'amqp',
      'rabbit.local:5672',
      (at: CheckContext) => checkAmqp({ url: 'amqp://rabbit.local', exchange: 'x' }, at),
    ],
    [
      'postgres',
      'db.local:5432',
      (at: CheckContext) =>
        checkPostgres({ url: 'postgresql://svc@db.local/a?sslmode=disable', schema: 'a' }, at),
    ],
  ])('an address in the clear, of a %s, is told with its port: %s', (_kind, place, issuesOf) => {
    const said = `unless SVC_EGRESS_ALLOW names ${place}, which a range does not`;
    const refused = [{ detail: expect.stringContaining(said) as string }];
    expect(issuesOf(allowing())).toMatchObject(refused);
    expect(issuesOf(allowing(place.replace(/\d+$/, '1'), '127.0.0.0/8'))).toMatchObject(refused);
    expect(issuesOf(allowing(place))).toEqual([]);
  });
});
