import { randomBytes } from 'node:crypto';

/** What the popup tells its opener. */
export type PopupMessage =
  | { eventType: 'AUTHORIZATION_SUCCEEDED'; data: { connection: string } }
  | { eventType: 'AUTHORIZATION_FAILED'; data: { error: string } };

export interface Page {
  html: string;
  headers: Record<string, string>;
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

// Only a page of these origins hears it; a browser leaves out the others.
const script = `const read = (id) => JSON.parse(document.getElementById(id).textContent);
if (window.opener) {
  for (const origin of read('hearers')) window.opener.postMessage(read('message'), origin);
  window.close();
}`;

const style =
  'body{font:16px/1.5 system-ui,sans-serif;max-width:34rem;margin:20vh auto;padding:0 1.5rem;color-scheme:light dark}h1{font-size:1.25rem}';

/** The page that ends a popup: it posts the message and closes itself; without an opener the sentence stands. */
export function popupPage(message: PopupMessage, origins: readonly string[]): Page {
  const succeeded = message.eventType === 'AUTHORIZATION_SUCCEEDED';
  const title = succeeded ? 'Connected' : 'Not connected';
  const sentence = succeeded
    ? 'The account is connected. You can close this window.'
    : `${message.data.error} You can close this window and try again.`;
  const nonce = randomBytes(16).toString('base64');
  // Inside a script element only "<" could end the data early.
  const inScript = (value: unknown): string => JSON.stringify(value).replaceAll('<', '\\u003c');
  const html = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>${title}</title><style nonce="${nonce}">${style}</style></head>
<body>
<main><h1>${title}</h1><p>${escapeHtml(sentence)}</p></main>
<script type="application/json" id="message" nonce="${nonce}">${inScript(message)}</script>
<script type="application/json" id="hearers" nonce="${nonce}">${inScript(origins)}</script>
<script nonce="${nonce}">${script}</script>
</body>
</html>
`;
  return { html, headers: headersWith(nonce) };
}

function headersWith(nonce: string): Record<string, string> {
  const policy = [
    "default-src 'none'",
    `script-src 'nonce-${nonce}'`,
    `style-src 'nonce-${nonce}'`,
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
  else url.searchParams.set('error', message.data.error);
  return url.toString();
}
