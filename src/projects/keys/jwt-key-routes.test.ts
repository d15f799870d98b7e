import { createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto';
import { SignJWT, UnsecuredJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../kit/ids.ts';
import { openHarness, type Harness } from '../harness.fixture.ts';

const path = '/projects/default/jwt-keys';
const rsa = (modulusLength = 2048) =>
  generateKeyPairSync('rsa', {
    modulusLength,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });

function withExponent(e: string): string {
  const { n = '' } = createPublicKey(rsa().publicKey).export({ format: 'jwk' });
  const key = createPublicKey({ format: 'jwk', key: { kty: 'RSA', n, e } });
  return key.export({ type: 'spki', format: 'pem' }).toString();
}

describe('src/projects/keys/jwt-key-routes', () => {
  let harness: Harness;
  let kid: string;
  const pair = rsa();
  beforeAll(async () => {
    harness = await openHarness();
    const given = { label: 'front end', algorithm: 'RS256', publicKeyPem: pair.publicKey };
    kid = (await harness.call('POST', path, given)).body.kid;
  });
  afterAll(() => harness.close());

  const claims = { groupRef: 'g1', consumerRef: 'c1' };
  async function token(
    given: { claims?: object; header?: object; exp?: number; privateKey?: string } = {},
  ): Promise<string> {
    const { exp = Math.floor(Date.now() / 1000) + 300 } = given;
    const jwt = new SignJWT({ ...(given.claims ?? claims) })
      .setIssuedAt()
      .setSubject('someone')
      .setExpirationTime(exp);
    return jwt
      .setProtectedHeader({ alg: 'RS256', kid, ...given.header })
      .sign(createPrivateKey(given.privateKey ?? pair.privateKey));
  }
  const probe = async (bearer: string, scope = 'frontend') =>
    harness.call('GET', `/probe/${scope}`, undefined, {
      key: null,
      headers: { authorization: `Bearer ${bearer}` },
    });

  it('admits a token to what the front end may do, for its group', async () => {
    const { status, body } = await probe(await token());
    expect(status).toBe(200);
    expect(body).toMatchObject({
      kind: 'jwt',
      keyId: kid,
      projectId: harness.projectId,
      scopes: ['frontend'],
      ...claims,
    });
    for (const scope of ['any', 'read', 'write', 'proxy'])
      expect((await probe(await token(), scope)).status).toBe(403);
  });

  const inSeconds = (seconds: number): number => Math.floor(Date.now() / 1000) + seconds;
  it.each<[string, () => Promise<string>]>([
    ['is expired', () => token({ exp: inSeconds(-60) })],
    ['lives longer than ten minutes', () => token({ exp: inSeconds(660) })],
    ['names no group', () => token({ claims: { consumerRef: 'c1' } })],
    ['names no consumer', () => token({ claims: { groupRef: 'g1' } })],
    [
      'names a group of more than 255 characters',
      () => token({ claims: { groupRef: 'g'.repeat(256), consumerRef: 'c1' } }),
    ],
    ['names an empty group', () => token({ claims: { groupRef: '', consumerRef: 'c1' } })],
    ['names a group that is no text', () => token({ claims: { groupRef: { $ne: 1 }, consumerRef: 'c1' } })],
    ['has no kid', () => token({ header: { kid: undefined } })],
    ['has an unknown kid', () => token({ header: { kid: 'other' } })],
    ['is signed by another key', () => token({ privateKey: rsa().privateKey })],
    ['is not signed', async () => new UnsecuredJWT(claims).setExpirationTime('5m').encode()],
    [
      'is signed with the public key as a shared secret',
      () =>
        new SignJWT(claims)
          .setExpirationTime('5m')
          .setProtectedHeader({ alg: 'HS256', kid })
          .sign(Buffer.from(pair.publicKey)),
    ],
    ['uses another algorithm of the same key', () => token({ header: { alg: 'RS512' } })],
  ])('refuses a token that %s', async (_name, make) => {
    const { status, body } = await probe(await make());
    expect([status, body.code]).toEqual([401, 'unauthenticated']);
  });

  it.each<[string, () => Promise<string>, detail: string, remedy: string]>([
    ['over', () => token({ exp: inSeconds(-60) }), 'is over', 'Ask your own server for a new'],
    [
      'signed by another key',
      () => token({ privateKey: rsa().privateKey }),
      'another private key',
      'jwt-keys',
    ],
    ['cut off', async () => (await token()).slice(0, -20), 'cut off', 'Send it whole'],
    ['of another algorithm', () => token({ header: { alg: 'RS512' } }), 'RS256', 'RS256'],
    [
      'with a claim in snake case',
      () => token({ claims: { group_ref: 'g1', consumerRef: 'c1' } }),
      'lacks the claim `groupRef`; it has `group_ref`',
      'Sign it with `groupRef`',
    ],
    [
      'without a consumer',
      () => token({ claims: { groupRef: 'g1' } }),
      'lacks the claim `consumerRef`',
      'Sign it with `consumerRef`',
    ],
    [
      'without an end',
      () =>
        new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid }).sign(createPrivateKey(pair.privateKey)),
      'lacks the claim `exp`',
      'at most 600 s ahead',
    ],
    [
      'that lives too long',
      () => token({ exp: inSeconds(660) }),
      'more than 600 seconds ahead',
      'at most 600 seconds',
    ],
  ])('says what is wrong with a token that is %s, and what helps', async (_name, make, detail, remedy) => {
    const { body } = await probe(await make());
    expect(body.detail).toContain(detail);
    expect(body.remedy).toContain(remedy);
  });

  it('a front-end token in place of an API key is called what it is', async () => {
    const from = { surface: 'proxy', address: () => '192.0.2.1' } as const;
    await expect(harness.projects.authenticateKey(await token(), from)).rejects.toThrow(
      'The proxy takes API keys only',
    );
  });

  it.each(['other', '\u0000', 'x'.repeat(300), '0190a5d4-7d3c-7a2b-8c1d-2e3f4a5b6c7d'])(
    'answers 401 to the kid %j without asking the database each time',
    async (unknown) => {
      const bearer = await token({ header: { kid: unknown } });
      await probe(bearer);
      const before = harness.calls('jwt_keys_load');
      for (let time = 0; time < 5; time += 1) expect((await probe(bearer)).status).toBe(401);
      expect(harness.calls('jwt_keys_load')).toBe(before);
    },
  );

  it.each(['a\u0000b', '\ud800'])('answers 401 to a group %j that cannot be kept', async (groupRef) => {
    expect((await probe(await token({ claims: { groupRef, consumerRef: 'c1' } }))).status).toBe(401);
  });

  describe('a key that names an issuer and an audience', () => {
    const named = { iss: 'https://app.example', aud: 'svc' };
    let header: { kid: string };
    beforeAll(async () => {
      const given = { label: 'named', algorithm: 'RS256', publicKeyPem: pair.publicKey };
      const { body } = await harness.call('POST', path, { ...given, issuer: named.iss, audience: named.aud });
      header = { kid: body.kid };
    });

    it.each<[string, object, number]>([
      ['both', named, 200],
      ['several audiences', { ...named, aud: ['other', 'svc'] }, 200],
      ['neither', {}, 401],
      ['no audience', { iss: named.iss }, 401],
      ['no issuer', { aud: named.aud }, 401],
      ['another issuer', { ...named, iss: 'https://app.example/' }, 401],
      ['another audience', { ...named, aud: ['other'] }, 401],
    ])('answers a token with %s', async (_name, given, status) => {
      const bearer = await token({ header, claims: { ...claims, ...given } });
      expect((await probe(bearer)).status).toBe(status);
    });

    it('shows them, and changes and clears them by mask', async () => {
      const one = `${path}/${header.kid}`;
      expect((await harness.call('GET', one)).body).toMatchObject({ issuer: named.iss, audience: named.aud });
      const change = { updateMask: ['issuer', 'audience'], jwtKey: { issuer: 'other', audience: null } };
      const { body } = await harness.call('PATCH', one, change);
      expect(body).toMatchObject({ issuer: 'other' });
      expect(body).not.toHaveProperty('audience');
      const bearer = await token({ header, claims: { ...claims, iss: 'other' } });
      expect((await probe(bearer)).status).toBe(200);
      expect((await probe(await token({ header, claims: { ...claims, ...named } }))).status).toBe(401);
    });
  });

  it('takes a token that lives ten minutes', async () => {
    expect((await probe(await token({ exp: inSeconds(600) }))).status).toBe(200);
  });

  it('shows, changes and deletes keys; a change holds at once', async () => {
    const created = await harness.call('POST', path, {
      label: 'second',
      algorithm: 'RS256',
      publicKeyPem: pair.publicKey,
    });
    expect(created.status).toBe(201);
    const one = `${path}/${created.body.kid}`;
    const bearer = await token({ header: { kid: created.body.kid } });
    expect((await probe(bearer)).status).toBe(200);
    expect((await harness.call('GET', one)).body).toMatchObject({
      label: 'second',
      algorithm: 'RSA',
      active: true,
      publicKeyPem: pair.publicKey,
    });
    const patched = await harness.call('PATCH', one, { updateMask: ['active'], jwtKey: { active: false } });
    expect(patched.body.active).toBe(false);
    expect((await probe(bearer)).status).toBe(401);
    const kids = async (query: string): Promise<string[]> =>
      (await harness.call('GET', `${path}${query}`)).body.map((each: { id: string }) => each.id);
    expect(await kids('?active=true')).not.toContain(created.body.kid);
    expect(await kids('')).toContain(created.body.kid);
    expect((await harness.call('DELETE', one)).status).toBe(204);
    expect((await harness.call('GET', one)).status).toBe(404);
  });

  it.each([
    ['a private key', pair.privateKey, 'private key'],
    ['text', 'hello', 'not a public key'],
    ['a short key', rsa(1024).publicKey, '2048 bits'],
    ['a key under which everybody can sign', withExponent('AQ'), 'another public exponent than 1'],
    [
      'a key of another kind',
      generateKeyPairSync('ec', {
        namedCurve: 'P-256',
        publicKeyEncoding: { type: 'spki', format: 'pem' },
        privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
      }).publicKey,
      'RSA',
    ],
  ])('refuses to register %s', async (_name, publicKeyPem, reason) => {
    const { status, body } = await harness.call('POST', path, {
      label: 'x',
      algorithm: 'RS256',
      publicKeyPem,
    });
    expect([status, body.issues[0].detail]).toEqual([400, expect.stringContaining(reason)]);
    expect(JSON.stringify(body)).not.toContain('BEGIN PRIVATE');
  });

  it('takes a key that two projects have for that of the older one, until one of them revokes it', async () => {
    await harness.call('PATCH', `${path}/${kid}`, { updateMask: ['active'], jwtKey: { active: true } });
    await harness.database.raw(
      `WITH p AS (INSERT INTO project (id, name, app_name) VALUES ($1, 'second', 'second') RETURNING id)
       INSERT INTO jwt_key (project_id, id, label, algorithm, public_key_pem)
       SELECT p.id, k.id, k.label, k.algorithm, k.public_key_pem FROM p, jwt_key k WHERE k.id = $2`,
      [newId(), kid],
    );
    const node = harness.createNode();
    expect(await node.jwtKeys.authenticate(await token())).toMatchObject({ projectId: harness.projectId });
    await harness.database.raw(`UPDATE jwt_key SET active = false WHERE id = $1 AND project_id <> $2`, [
      kid,
      harness.projectId,
    ]);
    await expect.poll(() => node.jwtKeys.holds(kid), { timeout: 10_000 }).toBe(false);
    await node.close();
  });
});
