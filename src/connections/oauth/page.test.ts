import { describe, expect, it } from 'vitest';
import { languageOf } from './page-text.ts';
import { flowPage, returnTo, type PageOptions } from './page.ts';

const hostile = `</script><script>alert(1)</script>"'><img src=x onerror=alert(1)>\u2028{provider}`;
const failed = (
  reason:
    | 'denied'
    | 'failed'
    | 'unsure'
    | 'used'
    | 'expired'
    | 'unknown'
    | 'takenBack'
    | 'otherBrowser'
    | 'otherAccount',
) => ({ eventType: 'AUTHORIZATION_FAILED', data: { error: 'It said no.', reason } }) as const;
const given: PageOptions = {
  message: failed('denied'),
  owner: { appName: 'Mailmonkey', branding: {}, hearers: ['https://app.example.com'] },
  provider: 'HubSpot',
  wayBack: undefined,
  requestId: 'r-1',
  acceptLanguage: undefined,
};

describe('src/connections/oauth/page', () => {
  it.each([
    ['denied', 'Mailmonkey was not given access to HubSpot. Nothing was changed.'],
    ['failed', 'HubSpot could not be connected to Mailmonkey.'],
    ['unsure', 'It may be that HubSpot is connected to Mailmonkey now.'],
    ['otherAccount', 'You signed in to another account of HubSpot'],
    ['used', 'A link connects an account once.'],
    ['expired', 'A link holds for ten minutes. Begin again in Mailmonkey.'],
    ['unknown', 'It was used, has expired, or is not whole.'],
    ['takenBack', 'Nothing was changed. Begin again in'],
    ['otherBrowser', 'Go on in the browser that opened the link first'],
  ] as const)('says in plain words that it is %s, and the rest behind a fold', (reason, text) => {
    const { html } = flowPage({ ...given, message: failed(reason) });
    const [before, fold] = html.split('<details>');
    expect(before).toContain(text);
    expect(before).toContain('You can close this window.');
    expect(before).not.toContain('It said no.');
    expect(fold).toContain('It said no.');
    expect(fold).toContain('Reference: r-1');
  });

  it('says that it succeeded, with nothing to unfold', () => {
    const message = { eventType: 'AUTHORIZATION_SUCCEEDED', data: { connection: 'c1' } } as const;
    const { html } = flowPage({ ...given, message, acceptLanguage: 'de' });
    expect(html).toContain('HubSpot ist mit Mailmonkey verbunden.');
    expect(html).not.toContain('<details>');
  });

  it('speaks of nobody where nobody is known', () => {
    const { html } = flowPage({
      ...given,
      owner: undefined,
      provider: undefined,
      message: failed('unknown'),
    });
    expect(html).not.toMatch(/undefined|\{app\}|\{provider\}|<header/);
  });

  it('lets no name, address or error out of its place, and allows nothing inline that has not its nonce', () => {
    const { html, headers } = flowPage({
      ...given,
      owner: {
        appName: hostile,
        branding: { logoUrl: `https://app.example.com/"><script>alert(1)</script>` },
        hearers: [hostile],
      },
      provider: hostile,
      wayBack: `https://app.example.com/?a="><script>alert(1)</script>`,
      message: { eventType: 'AUTHORIZATION_FAILED', data: { error: hostile, reason: 'failed' } },
    });
    const policy = headers['content-security-policy'] ?? '';
    const nonce = /script-src 'nonce-([^']+)'/.exec(policy)?.[1] ?? 'none';
    expect(policy).not.toContain('unsafe');
    const tags = [...html.matchAll(/<(script|style|img|link|iframe)\b[^>]*>/g)].map(([tag]) => tag);
    expect(tags.filter((tag) => !tag.includes(`nonce="${nonce}"`))).toEqual([
      expect.stringMatching(/^<img src="https:\/\/app\.example\.com\/&quot;&gt;&lt;script/),
    ]);
    const message: unknown = JSON.parse(/id="message"[^>]*>(.*?)<\/script>/s.exec(html)?.[1] ?? '');
    expect(message).toMatchObject({ data: { error: hostile } });
    // A name is put in once: what looks like a place for another stays as it is.
    expect(html).toContain('{provider}');
  });

  it.each([
    ['de-CH, en;q=0.8', 'de'],
    ['en;q=0.9, de', 'de'],
    ['fr, es;q=0.5', 'en'],
    ['de;q=0, en;q=0.1', 'en'],
    ['constructor, __proto__', 'en'],
    [undefined, 'en'],
  ])('takes %s for %s', (accepted, language) => expect(languageOf(accepted)).toBe(language));

  it('adds to a return URL how it ended', () => {
    expect(returnTo('https://app.example.com/?a=1', failed('denied'))).toBe(
      'https://app.example.com/?a=1&error=It+said+no.&errorReason=denied',
    );
  });
});
