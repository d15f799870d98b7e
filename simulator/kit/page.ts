import type { Control } from './control.ts';
import { escapeHtml, html } from './http.ts';
import type { Reply } from './http.ts';
import type { Provider } from './provider.ts';

/** Understands `code` in backquotes. */
function prose(text: string): string {
  return escapeHtml(text)
    .replaceAll(/`([^`]*)`/g, '<code>$1</code>')
    .replaceAll(/&#96;([^&]*)&#96;/g, '<code>$1</code>');
}

/** The page at `/`: the records, and a curl line for each control. */
export function guidePage(provider: Provider, controls: Control[], url: string): Reply {
  const { guide } = provider;
  const settings = { ...commonSettings, ...guide.settings };
  const now = provider.settings({});
  const body = `<h1>${escapeHtml(guide.title)}</h1>
<p>A simulator at <code>${escapeHtml(url)}</code>: it speaks the API of the provider, keeps its records in memory and belongs to whoever runs it.</p>
<h2>Accounts and clients</h2>
<ul>${guide.accounts.map((line) => `<li>${prose(line)}</li>`).join('\n')}</ul>
<p>A token without a browser, and the first call with it:</p>
<pre>${escapeHtml(firstSteps(guide.firstCall, url))}</pre>
<h2>Records</h2>
${recordsOf(provider, url)}
<h2>For the platform</h2>
<p>It calls this simulator in place of the provider when it is started with</p>
<pre>${escapeHtml(`SVC_PROVIDER_ORIGINS=${provider.name}=${url} SVC_EGRESS_ALLOW=${new URL(url).host} npm start`)}</pre>
<h2>Controls</h2>
${controls.map((one) => entry(one, url)).join('\n')}
<h2>Settings</h2>
<dl>${Object.entries(settings)
    .map(([name, about]) => setting(name, about, now[name]))
    .join('\n')}</dl>`;
  return html(200, `${head(guide.title)}<body>${body}</body></html>`);
}

const mostShown = 10;

/** What there is of each object, the newest first. */
function recordsOf({ counts, readData }: Provider, url: string): string {
  const filled = Object.entries(counts()).filter(([, { live, deleted }]) => live + deleted > 0);
  if (filled.length === 0) return '<p>There are none yet.</p>';
  return filled
    .map(([object, { live, deleted }]) => {
      const { records } = (readData(object) ?? {}) as { records?: unknown[] };
      const shown = (records ?? []).slice(-mostShown).toReversed();
      const all = `${url}/__sim/data/${object}`;
      return `<details><summary>${escapeHtml(object)}: ${live}${deleted > 0 ? `, and ${deleted} deleted` : ''}</summary>
<pre>${shown.map((record) => escapeHtml(JSON.stringify(record))).join('\n')}</pre><p><a href="${escapeHtml(all)}">All of them</a></p></details>`;
    })
    .join('\n');
}

const commonSettings: Record<string, string> = {
  latencyMs: 'Added to every answer of the API.',
  ledger: 'Whether requests and effects are kept.',
};

function firstSteps(firstCall: string, url: string): string {
  return `TOKEN=$(curl -s ${url}/__sim/tokens -d '{"action":"issue"}' | sed 's/.*"accessToken":"\\([^"]*\\)".*/\\1/')
curl -s "${url}${firstCall}" -H "Authorization: Bearer $TOKEN"`;
}

function entry({ method, path, about, example }: Control, url: string): string {
  const body = example ? ` -d '${JSON.stringify(example)}'` : '';
  const verb = method === 'DELETE' ? ' -X DELETE' : '';
  return `<h3><code>${method} ${escapeHtml(path)}</code></h3><p>${prose(about)}</p><pre>${escapeHtml(`curl -s${verb} ${url}${path}${body}`)}</pre>`;
}

function setting(name: string, about: string, value: unknown): string {
  const shown = value === undefined ? '' : ` <small>now ${escapeHtml(JSON.stringify(value))}</small>`;
  return `<dt><code>${escapeHtml(name)}</code>${shown}</dt><dd>${prose(about)}</dd>`;
}

function head(title: string): string {
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${escapeHtml(title)}</title>
<style>body{font:16px/1.5 system-ui;max-width:60rem;margin:2rem auto;padding:0 1rem}pre{background:#f4f4f4;padding:.6rem;overflow:auto}h3{margin-bottom:0}dt{margin-top:.6rem}</style></head>`;
}
