import { json, type Call, type OAuth, type Reply } from '../kit/index.ts';
import { identityUrl } from './login.ts';
import type { Org } from './org.ts';
import type { Row } from './store/store.ts';
import { ensureUser } from './users.ts';

/** Answers `/id/{org}/{user}` and `/services/oauth2/userinfo`; undefined for other paths. */
export function serveIdentity(org: Org, oauth: OAuth, call: Call): Reply | undefined {
  const path = /^\/id\/(\w+)\/(\w+)\/?$/.exec(call.path);
  const info = /^\/services\/oauth2\/userinfo\/?$/.test(call.path);
  if (!path && !info) return undefined;
  const text = /^(?:Bearer|OAuth) +(\S+)$/i.exec(call.headers.authorization ?? '')?.[1];
  const token = text ?? call.query.get('oauth_token');
  if (!token) return refuse('Missing_OAuth_Token');
  const access = oauth.tokens.access(token);
  if (!access || access.revoked || access.expiresAt <= org.ground.clock.now())
    return refuse('Bad_OAuth_Token');
  const user = ensureUser(org, access.grant.account);
  if (path && path[1] !== org.id) return refuse('Wrong_Org');
  if (path && path[2] !== user['Id']) return refuse('Bad_Id');
  return json(200, info ? userinfo(org, user) : identity(org, user));
}

function refuse(reason: string): Reply {
  return { status: 403, body: reason, headers: { 'content-type': 'text/plain' } };
}

function identity(org: Org, user: Row): Record<string, unknown> {
  const id = String(user['Id']);
  return {
    id: identityUrl(org, id),
    asserted_user: true,
    user_id: id,
    organization_id: org.id,
    username: user['Username'],
    nick_name: user['Alias'],
    display_name: user['Name'],
    email: user['Email'],
    email_verified: true,
    first_name: user['FirstName'] ?? null,
    last_name: user['LastName'],
    timezone: user['TimeZoneSidKey'],
    photos: {
      picture: `${org.ground.url}/profilephoto/005/F`,
      thumbnail: `${org.ground.url}/profilephoto/005/T`,
    },
    addr_street: null,
    addr_city: null,
    addr_country: null,
    active: true,
    user_type: 'STANDARD',
    language: 'en_US',
    locale: user['LocaleSidKey'],
    utcOffset: 0,
    urls: urls(org, id),
    last_modified_date: user['LastModifiedDate'],
    is_app_installed: true,
  };
}

function userinfo(org: Org, user: Row): Record<string, unknown> {
  const id = String(user['Id']);
  return {
    sub: identityUrl(org, id),
    user_id: id,
    organization_id: org.id,
    preferred_username: user['Username'],
    nickname: user['Alias'],
    name: user['Name'],
    email: user['Email'],
    email_verified: true,
    given_name: user['FirstName'] ?? null,
    family_name: user['LastName'],
    zoneinfo: user['TimeZoneSidKey'],
    urls: urls(org, id),
    active: true,
    user_type: 'STANDARD',
  };
}

/** `{version}` stands for the caller to fill in, as Salesforce has it. */
function urls(org: Org, userId: string): Record<string, string> {
  const rest = `${org.ground.url}/services/data/v{version}/`;
  return {
    rest,
    sobjects: `${rest}sobjects/`,
    query: `${rest}query/`,
    recent: `${rest}recent/`,
    tooling_rest: `${rest}tooling/`,
    profile: `${org.ground.url}/${userId}`,
    custom_domain: org.ground.url,
  };
}
