import { describe, expect, it } from 'vitest';
import { loadCatalog } from './catalog.ts';
import { judgeTokenError, type TokenErrorMeaning } from './token-error.ts';

const catalog = loadCatalog();

type Case = [name: string, status: number, body: unknown, expected: TokenErrorMeaning];
const beingProcessed = {
  error: 'invalid_grant',
  error_description: 'token request is already being processed',
};

describe('src/providers/token-error', () => {
  it.each<Case>([
    ['hubspot', 400, { status: 'BAD_REFRESH_TOKEN', message: 'missing or invalid refresh token' }, 'revoked'],
    ['hubspot', 400, { status: 'BAD_AUTH_CODE', error: 'invalid_grant' }, 'revoked'],
    ['hubspot', 400, { status: 'BAD_HUB', error: 'access_denied' }, 'revoked'],
    ['hubspot', 400, { error: 'invalid_grant' }, 'revoked'],
    ['hubspot', 400, { status: 'BAD_CLIENT_SECRET', error: 'invalid_client' }, 'config'],
    ['hubspot', 400, { status: 'BAD_CODE_VERIFIER', error: 'invalid_grant' }, 'config'],
    ['hubspot', 423, { status: 'BAD_REFRESH_TOKEN' }, 'transient'],
    ['hubspot', 429, { status: 'error' }, 'transient'],
    ['hubspot', 477, {}, 'transient'],
    ['hubspot', 502, '<html>', 'transient'],
    ['hubspot', 403, '<html>blocked</html>', 'transient'],
    [
      'salesforce',
      400,
      { error: 'invalid_grant', error_description: 'expired access/refresh token' },
      'revoked',
    ],
    ['salesforce', 400, { error: 'inactive_org' }, 'revoked'],
    ['salesforce', 400, { error: 'invalid_client_id' }, 'config'],
    ['salesforce', 400, { error: 'redirect_uri_mismatch' }, 'config'],
    ['salesforce', 400, { error: 'unknown_error', error_description: 'retry your request' }, 'transient'],
    ['salesforce', 400, { error: 'invalid_grant', error_description: 'Login Rate Exceeded' }, 'transient'],
    ...['salesforce', 'salesforceJWT'].map((name): Case => [name, 400, beingProcessed, 'transient']),
    ['slack', 200, { ok: false, error: 'token_revoked' }, 'revoked'],
    ['slack', 200, { ok: false, error: 'bad_client_secret' }, 'config'],
    ['github', 200, 'error=bad_refresh_token&error_description=The+refresh+token', 'revoked'],
    ['github', 200, { error: 'unverified_user_email' }, 'revoked'],
    ['github', 200, { error: 'incorrect_client_credentials' }, 'config'],
    ['slack', 200, { ok: false, error: 'invalid_refresh_token' }, 'revoked'],
    ['slack', 200, { ok: false, error: 'ratelimited' }, 'transient'],
    ['jira', 403, { error: 'unauthorized_client', error_description: 'refresh_token is invalid' }, 'revoked'],
    ['jira', 401, { error: 'unauthorized_client', error_description: 'bad secret' }, 'config'],
    ['zohoCrm', 200, { error: 'invalid_code' }, 'revoked'],
    ['zohoCrm', 400, { error: 'Access Denied', status: 'failure' }, 'transient'],
    ['microsoft', 400, { error: 'interaction_required' }, 'revoked'],
    ['close', 401, { error: 'invalid_client' }, 'config'],
    ['close', 400, '{"error":"invalid_grant"}', 'revoked'],
    ['close', 400, '{"error":"temporarily_unavailable"}', 'transient'],
    ['close', 400, { error: 'unheard_of' }, 'unknown'],
    ['close', 400, { error: 'unauthorized_client' }, 'config'],
    ['close', 400, { error: 'invalid_request' }, 'unknown'],
    [
      'marketo',
      401,
      { error: 'unauthorized', error_description: 'No client with requested id: c' },
      'config',
    ],
    ['sugarCRM', 401, { error: 'need_login', error_message: 'You must specify a valid user' }, 'revoked'],
    ['close', 400, {}, 'transient'],
    ['close', 401, {}, 'transient'],
    ['close', 403, { message: 'Forbidden' }, 'transient'],
    ['close', 404, { status: 404, error: 'Not Found', path: '/token' }, 'transient'],
    ['hubspot', 401, { status: 'error', message: 'internal error' }, 'transient'],
    ['close', 400, '', 'transient'],
  ])('of %s, %i %j means %s', (name, status, body, expected) => {
    expect(judgeTokenError(catalog.get(name), status, body)).toBe(expected);
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    expect(judgeTokenError(catalog.get(name), status, text)).toBe(expected);
  });
});
