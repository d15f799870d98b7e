import { randomBytes } from 'node:crypto';
import type { Branding } from '../../projects/schema.ts';
import { languageOf, pageTexts, type PageKind, type PageTexts } from './page-text.ts';

/** What the popup tells its opener. */
export type PopupMessage =
  | { eventType: 'AUTHORIZATION_SUCCEEDED'; data: { connection: string } }
  | { eventType: 'AUTHORIZATION_FAILED'; data: { error: string; reason: Exclude<PageKind, 'connected'> } };

export interface Page {
  html: string;
  headers: Record<string, string>;
}

/** Whose page it is, and which origins may hear it. */
export interface PageOwner {
  appName: string;
  branding: Branding;
  hearers: readonly string[];
}

export interface PageOptions {
  message: PopupMessage;
  /** Undefined for a flow that nobody knows. */
  owner: PageOwner | undefined;
  /** The provider's name. */
  provider: string | undefined;
  /** Where the person came from. */
  wayBack: string | undefined;
  requestId: string;
  acceptLanguage: string | undefined;
}

const entities: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? '');
}

// Only a page of these origins hears it; a browser leaves out the others, and complains of each in the console of the page that
// opened the window. A page can say which one it is behind the last @ of the window's name.
const script = `const read = (id) => JSON.parse(document.getElementById(id).textContent);
if (window.opener) {
  const hearers = read('hearers');
  const named = hearers.filter((origin) => window.name.endsWith('@' + origin));
  for (const origin of named.length > 0 ? named : hearers) window.opener.postMessage(read('message'), origin);
  window.close();
}`;

const style = `:root{--bg:#f5f6f8;--card:#fff;--text:#171a21;--soft:#59606e;--line:#dfe2e8;--accent:#2f5bd8;--good:#15754a;--bad:#b3261e}
@media (prefers-color-scheme:dark){:root{--bg:#0f1217;--card:#16191f;--text:#eceef2;--soft:#a5acb9;--line:#313742;--accent:#8fb0ff;--good:#6fd3a5;--bad:#ff9d94}}
*{box-sizing:border-box}
body{margin:0;min-height:100vh;display:grid;place-items:center;padding:16px;background:var(--bg);color:var(--text);font:16px/1.5 system-ui,sans-serif;color-scheme:light dark}
main{width:100%;max-width:30rem;padding:32px;background:var(--card);border:1px solid var(--line);border-top:4px solid var(--accent);border-radius:12px;overflow-wrap:anywhere}
header{display:flex;align-items:center;min-height:32px;margin-bottom:24px;font-weight:600}
header img{max-width:160px;max-height:40px}
h1{margin:0 0 8px;font-size:1.375rem;line-height:1.25}
h1::before{content:"";display:inline-block;width:.6em;height:.6em;margin-inline-end:.4em;border-radius:50%;background:var(--bad)}
[data-kind=connected] h1::before{background:var(--good)}
p{margin:0 0 12px}
.soft,details{color:var(--soft);font-size:.875rem}
.back{display:inline-block;margin:8px 0 20px;padding:9px 16px;border:2px solid var(--accent);border-radius:8px;color:inherit;font-weight:600;text-decoration:none}
a:focus-visible,summary:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
summary{cursor:pointer}
details p{margin:8px 0 0}`;

/** The page that ends a flow. In a popup it posts the message and closes itself; without an opener what it says stands. */
export function flowPage(options: PageOptions): Page {
  const { message, owner, provider, wayBack } = options;
  const kind = message.eventType === 'AUTHORIZATION_SUCCEEDED' ? 'connected' : message.data.reason;
  const language = languageOf(options.acceptLanguage);
  const app = owner?.appName ?? '';
  const texts = pageTexts(language, kind, { app, provider: provider ?? '', requestId: options.requestId });
  const nonce = randomBytes(16).toString('base64');
  // Inside a script element only "<" could end the data early.
  const inScript = (value: unknown): string => JSON.stringify(value).replaceAll('<', '\\u003c');
  const html = `<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="robots" content="noindex">
<title>${escapeHtml(app === '' ? texts.title : `${texts.title} · ${app}`)}</title>
<style nonce="${nonce}">${style}${accentOf(owner?.branding)}</style>
</head>
<body>
<main data-kind="${kind}">
${headOf(owner)}<h1>${escapeHtml(texts.title)}</h1>
<p dir="auto">${escapeHtml(texts.text)}</p>
${wayOf(texts, wayBack)}
${'error' in message.data ? detailsOf(texts, message.data.error) : ''}
</main>
<script type="application/json" id="message" nonce="${nonce}">${inScript(message)}</script>
<script type="application/json" id="hearers" nonce="${nonce}">${inScript(owner?.hearers ?? [])}</script>
<script nonce="${nonce}">${script}</script>
</body>
</html>
`;
  return { html, headers: headersWith(nonce) };
}

function headOf(owner: PageOwner | undefined): string {
  if (!owner) return '';
  const name = escapeHtml(owner.appName);
  const { logoUrl } = owner.branding;
  const shown = logoUrl === undefined ? name : `<img src="${escapeHtml(logoUrl)}" alt="${name}">`;
  return `<header dir="auto">${shown}</header>\n`;
}

/** The project's colours: its schema lets nothing in but six digits. */
function accentOf({ accentColor, accentColorDark = accentColor }: PageOwner['branding'] = {}): string {
  if (accentColor === undefined) return '';
  return `:root{--accent:${accentColor}}@media (prefers-color-scheme:dark){:root{--accent:${accentColorDark}}}`;
}

function wayOf(texts: PageTexts, wayBack: string | undefined): string {
  if (wayBack === undefined) return `<p class="soft">${escapeHtml(texts.close)}</p>`;
  return `<a class="back" dir="auto" href="${escapeHtml(wayBack)}">${escapeHtml(texts.back)}</a>`;
}

function detailsOf(texts: PageTexts, error: string): string {
  return `<details><summary>${escapeHtml(texts.details)}</summary><p dir="auto">${escapeHtml(error)}</p><p>${escapeHtml(texts.reference)}</p></details>`;
}

function headersWith(nonce: string): Record<string, string> {
  const policy = [
    "default-src 'none'",
    `script-src 'nonce-${nonce}'`,
    `style-src 'nonce-${nonce}'`,
    'img-src https:',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ];
  return {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': policy.join('; '),
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
  };
}

/** The return URL with the outcome added to its query. */
export function returnTo(returnUrl: string, message: PopupMessage): string {
  const url = new URL(returnUrl);
  if (message.eventType === 'AUTHORIZATION_SUCCEEDED')
    url.searchParams.set('connectionId', message.data.connection);
  else {
    url.searchParams.set('error', message.data.error);
    url.searchParams.set('errorReason', message.data.reason);
  }
  return url.toString();
}
