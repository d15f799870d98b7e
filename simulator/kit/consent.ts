import { escapeHtml, formParams, html, redirect } from './http.ts';
import type { Call, Reply } from './http.ts';
import type { AuthorizeRequest, OAuth } from './oauth.ts';

export type ConsentOptions = {
  provider: string;
  /** The account when neither the request nor /__sim/consent names one. */
  defaultAccount: string;
  /** Granted when the request names no scope. */
  defaultScopes: string[];
};

/** The authorize endpoint, GET and POST: approves, denies or asks, as /__sim/consent says. */
export function authorize(call: Call, oauth: OAuth, options: ConsentOptions): Reply {
  const params = formParams(call);
  const request = toRequest(params, oauth, options, call.params['account']);
  const wrong = oauth.checkAuthorize(request);
  if (wrong && !wrong.redirect)
    return html(400, page('Authorization failed', `<p>${escapeHtml(wrong.error)}</p>`));
  if (wrong) return back(request, { error: wrong.error });
  if (params.get('response_type') && params.get('response_type') !== 'code') {
    return back(request, { error: 'unsupported_response_type' });
  }
  const decision = call.method === 'POST' ? params.get('decision') : null;
  const mode = decision ?? oauth.consent.mode;
  if (mode === 'approve') return back(request, { code: oauth.approve(request) });
  if (mode === 'deny') {
    return back(request, { error: 'access_denied', error_description: 'The user denied access' });
  }
  return html(200, consentPage(call.path, params, request, options.provider));
}

function toRequest(
  params: URLSearchParams,
  oauth: OAuth,
  options: ConsentOptions,
  pathAccount: string | undefined,
): AuthorizeRequest {
  const scopes = `${params.get('scope') ?? ''} ${params.get('optional_scope') ?? ''}`
    .split(/[\s,]+/)
    .filter(Boolean);
  return {
    clientId: params.get('client_id') ?? '',
    redirectUri: params.get('redirect_uri') ?? '',
    scopes: scopes.length > 0 ? [...new Set(scopes)] : options.defaultScopes,
    state: params.get('state'),
    challenge: params.get('code_challenge'),
    challengeMethod: params.get('code_challenge_method'),
    account: params.get('account') || pathAccount || oauth.consent.account || options.defaultAccount,
  };
}

function back(request: AuthorizeRequest, answer: Record<string, string>): Reply {
  const url = new URL(request.redirectUri);
  for (const [name, value] of Object.entries(answer)) url.searchParams.set(name, value);
  if (request.state !== null) url.searchParams.set('state', request.state);
  return redirect(url.toString());
}

function consentPage(
  path: string,
  params: URLSearchParams,
  request: AuthorizeRequest,
  provider: string,
): string {
  const hidden = [...params]
    .filter(([name]) => name !== 'account' && name !== 'decision')
    .map(([name, value]) => `<input type="hidden" name="${escapeHtml(name)}" value="${escapeHtml(value)}">`)
    .join('\n');
  const scopes = request.scopes.map((scope) => `<li><code>${escapeHtml(scope)}</code></li>`).join('');
  return page(
    `${provider} (simulated)`,
    `<p>The app <code>${escapeHtml(request.clientId)}</code> asks for:</p><ul>${scopes}</ul>
<form method="post" action="${escapeHtml(path)}">
${hidden}
<p><label>Account <input name="account" value="${escapeHtml(request.account)}"></label></p>
<p><button name="decision" value="approve">Approve</button> <button name="decision" value="deny">Deny</button></p>
</form>`,
  );
}

function page(title: string, content: string): string {
  const safe = escapeHtml(title);
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${safe}</title></head><body><h1>${safe}</h1>${content}</body></html>`;
}
