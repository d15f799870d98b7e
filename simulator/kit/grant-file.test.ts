import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startHubspot } from '../hubspot/index.ts';
import { startSalesforce } from '../salesforce/index.ts';
import type { Running } from './index.ts';

describe('simulator/kit/grant-file', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-grants-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  const post = async (url: string, body: string | URLSearchParams): Promise<Record<string, string>> => {
    const answer = await fetch(url, { method: 'POST', body });
    return (await answer.json()) as Record<string, string>;
  };
  /** Consents as a browser does; answers the tokens for the code that comes back. */
  async function connect({ url }: Running, pages: Pages): Promise<Record<string, string>> {
    const asked = new URLSearchParams({ ...app, response_type: 'code', scope: pages.scope, state: 's' });
    const sent = await fetch(`${url}${pages.authorize}?${asked.toString()}`, { redirect: 'manual' });
    const code = new URL(sent.headers.get('location') ?? '').searchParams.get('code') ?? '';
    return post(
      `${url}${pages.token}`,
      new URLSearchParams({ ...app, grant_type: 'authorization_code', code }),
    );
  }
  const refresh = ({ url }: Running, pages: Pages, refresh_token: string) =>
    post(`${url}${pages.token}`, new URLSearchParams({ ...app, grant_type: 'refresh_token', refresh_token }));

  /** Makes the same record again and answers its id. */
  async function make({ url }: Running, pages: Pages, token: Record<string, string>): Promise<string> {
    const answer = await fetch(`${url}${pages.records}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token['access_token']}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify(pages.record),
    });
    const { id } = (await answer.json()) as { id?: string };
    expect(id).toBeTypeOf('string');
    return id ?? '';
  }

  interface Pages {
    authorize: string;
    token: string;
    scope: string;
    records: string;
    record: object;
  }
  const app = { client_id: 'app', client_secret: 'x', redirect_uri: 'http://127.0.0.1:9/callback' };
  const hubspot = {
    authorize: '/oauth/authorize',
    token: '/oauth/v1/token',
    scope: 'oauth crm.objects.contacts.write',
    records: '/crm/v3/objects/contacts',
    record: { properties: { email: 'ada@example.com' } },
  };
  const salesforce = {
    authorize: '/services/oauth2/authorize',
    token: '/services/oauth2/token',
    scope: 'api refresh_token',
    records: '/services/data/v62.0/sobjects/Account',
    record: { Name: 'Ada' },
  };

  it.each([
    ['hubspot', startHubspot, hubspot],
    ['salesforce', startSalesforce, salesforce],
  ] as const)(
    'what %s granted before a restart is refreshed after it, until a reset, and no id is given twice',
    async (name, start, pages) => {
      const keep = join(folder, 'made', `${name}.json`);
      const first = await start({ keep, records: 3 });
      const before = await connect(first, pages);
      expect(before['refresh_token']).toBeTypeOf('string');
      const made = await make(first, pages, before);
      await first.close();

      const second = await start({ keep, records: 3 });
      const after = await refresh(second, pages, before['refresh_token'] ?? '');
      expect(after['access_token']).toBeTypeOf('string');
      expect(after['access_token']).not.toBe(before['access_token']);
      expect(await make(second, pages, after)).not.toBe(made);
      await second.close();

      const without = await start({ records: 3 });
      expect((await refresh(without, pages, before['refresh_token'] ?? ''))['access_token']).toBeUndefined();
      await without.close();

      const third = await start({ keep, records: 3 });
      expect(await post(`${third.url}/__sim/reset`, '{}')).toMatchObject({
        note: expect.stringContaining('connected again') as string,
      });
      expect((await refresh(third, pages, before['refresh_token'] ?? ''))['access_token']).toBeUndefined();
      await third.close();
    },
  );
});
