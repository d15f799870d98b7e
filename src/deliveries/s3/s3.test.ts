import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { freePort } from '../../../test/free-port.ts';
import type { Ground } from '../../kit/ground.ts';
import { parseAddressRules } from '../../kit/http/address.ts';
import { createEgress } from '../../kit/http/egress.ts';
import type { Delivered, OutgoingMessage } from '../kind.ts';
import { testDestinationKind, testMessage, type KindWorld } from '../kind.testsuite.ts';
import { bucket, secrets, startStore, type TestStore } from './harness.fixture.ts';
import { createS3 } from './index.ts';
import type { S3Metadata } from './schema.ts';

const timeoutMs = 1_500;
const egress = createEgress({
  allow: parseAddressRules(['127.0.0.1', `${bucket}.s3.test`]),
  connectTimeoutMs: 1_000,
  resolve: (_name, _options, callback) => callback(null, [{ address: '127.0.0.1', family: 4 }]),
});
const ground = { egress } as unknown as Ground;
const kind = createS3({ timeoutMs });
const good = { bucket, region: 'us-east-1' };
const at = (endpointUrl: string): S3Metadata => ({ ...good, pathStyle: true, endpointUrl });

testDestinationKind({
  type: 's3',
  patienceMs: 4_000,
  async open(): Promise<KindWorld> {
    const store = await startStore();
    return {
      kind,
      metadata: at(store.url),
      secrets,
      nowhere: at(`http://127.0.0.1:${await freePort()}`),
      behave: (how) => store.behave(how),
      async arrived() {
        const kept = await store.objects();
        return kept
          .flatMap(
            ({ text }) => (JSON.parse(text) as { result: { raw: { id: string; name: string } }[] }).result,
          )
          .map(({ raw }) => `${raw.id} ${raw.name}`)
          .toSorted();
      },
      context: { ground },
      close: () => store.close(),
    };
  },
  shown: ({ id, name }) => `${id} ${name}`,
  nonsense: [
    ['no bucket', { region: 'eu-central-1' }, 'metadata.bucket'],
    ['no region', { bucket }, 'metadata.region'],
    ['a bucket with a slash', { ...good, bucket: 'a/b' }, 'metadata.bucket'],
    ['a bucket of dots', { ...good, bucket: '..', pathStyle: true }, 'metadata.bucket'],
    ['a bucket that is a host', { ...good, bucket: 'evil.example.com' }, 'metadata.bucket'],
    ['an ARN', { ...good, bucket: 'arn:aws:s3:eu-central-1:1:accesspoint/a' }, 'metadata.bucket'],
    ['a region that is a host', { ...good, region: 'x.example.com/' }, 'metadata.region'],
    ['a key for all', { ...good, keyTemplate: 'all.json' }, 'metadata.keyTemplate'],
    ['a name that is not known', { ...good, keyTemplate: '{{id}}{{secret}}' }, 'metadata.keyTemplate'],
    ['a name of every object', { ...good, keyTemplate: '{{id}}{{constructor}}' }, 'metadata.keyTemplate'],
    ['a brace alone', { ...good, keyTemplate: '{{id}}{x}' }, 'metadata.keyTemplate'],
    ['a way up', { ...good, keyTemplate: '../{{id}}' }, 'metadata.keyTemplate'],
    ['a way up in the middle', { ...good, keyTemplate: 'a/../{{id}}' }, 'metadata.keyTemplate'],
    ['an absolute key', { ...good, keyTemplate: '/{{id}}' }, 'metadata.keyTemplate'],
    ['an empty part', { ...good, keyTemplate: 'a//{{id}}' }, 'metadata.keyTemplate'],
    ['a line break', { ...good, keyTemplate: 'a\n{{id}}' }, 'metadata.keyTemplate'],
    ['a store in the clear', { ...good, endpointUrl: 'http://example.com' }, 'metadata.endpointUrl'],
    ['what is no URL', { ...good, endpointUrl: 's3://crm' }, 'metadata.endpointUrl'],
    ['user information', { ...good, endpointUrl: 'https://a:b@example.com' }, 'metadata.endpointUrl'],
    ['a query', { ...good, endpointUrl: 'https://example.com/?a=b' }, 'metadata.endpointUrl'],
    ['a storage class of words', { ...good, storageClass: 'cold storage' }, 'metadata.storageClass'],
    ['a property of another kind', { ...good, url: 'https://example.com' }, 'metadata.url'],
  ],
});

describe('deliveries/s3', () => {
  let store: TestStore;
  beforeAll(async () => {
    store = await startStore();
  });
  beforeEach(async () => {
    await store.behave('well');
    store.asked.length = 0;
  });
  afterAll(async () => {
    await store.close();
    await egress.close();
  });

  const send = (
    message: OutgoingMessage = testMessage(),
    over: Partial<S3Metadata> = {},
    own: Partial<typeof secrets> & { awsSessionToken?: string } = {},
  ): Promise<Delivered> =>
    kind.deliver(
      message,
      {
        id: 'd1',
        projectId: message.projectId,
        name: 'mine',
        metadata: { ...at(store.url), ...over },
        secrets: { ...secrets, ...own },
      },
      { ground, signal: new AbortController().signal, mayStillSend: () => true },
    );
  const failed = (error: RegExp) => ({ kind: 'failed', error: expect.stringMatching(error) as string });
  const answering = (answer: (response: ServerResponse) => void): Promise<Delivered> => {
    store.answer = answer;
    return send();
  };
  const kept = async (id: string) => (await store.objects()).filter(({ about }) => about['event-id'] === id);

  it('an object is the body byte for byte, under the time and the id, with what the message is about', async () => {
    const body = '{"action":"read", "result":[{"raw":{"n":1.50,"e":"\\u00eb"}}]}';
    const message = testMessage(['Zoë'], {
      body: async () => Buffer.from(body),
      groupRef: 'Zoë & Söhne',
      createdAt: new Date('2026-01-15T09:30:00Z'),
    });
    expect(await send(message)).toMatchObject({ kind: 'delivered', status: 200 });
    expect(await kept(message.id)).toEqual([
      {
        key: `2026-01-15T09%3A30%3A00.000Z_${message.id}.json`,
        text: body,
        type: 'application/json',
        about: {
          'event-id': message.id,
          timestamp: encodeURIComponent('2026-01-15T09:30:00.000Z'),
          topic: 'read',
          projectid: message.projectId,
          destinationid: 'd1',
          installationid: message.installationId,
          groupref: encodeURIComponent('Zoë & Söhne'),
          objectname: 'people',
        },
      },
    ]);
  });

  it('a message that comes again is one object', async () => {
    const message = testMessage();
    for (const attempt of [1, 2, 3]) await send({ ...message, attempt, replay: attempt === 3 });
    expect(await kept(message.id)).toHaveLength(1);
  });

  it.each([
    ['../../etc', '..%2F..%2Fetc'],
    ['..', '%2E%2E'],
    ['.', '%2E'],
    ['', '-'],
    ['a/b c?#', 'a%2Fb%20c%3F%23'],
    ['\uD800', '%EF%BF%BD'],
  ])('a group called %j stays one part of the key', async (groupRef, part) => {
    const message = testMessage(['Ann'], { groupRef, createdAt: new Date('2026-01-15T09:30:00Z') });
    const keyTemplate = 'crm/{{groupRef}}/{{year}}-{{month}}-{{day}}/{{hour}}/{{id}}';
    expect(await send(message, { keyTemplate })).toMatchObject({ kind: 'delivered' });
    expect((await kept(message.id)).map(({ key }) => key)).toEqual([
      `crm/${part}/2026-01-15/09/${message.id}`,
    ]);
  });

  it('names the bucket in the host, unless told otherwise', async () => {
    const endpointUrl = `http://s3.test:${store.port}`;
    const over = { endpointUrl, pathStyle: false };
    // The server counts the bucket into the path that is signed, which Amazon does not.
    store.answer = (response) => response.writeHead(200, { etag: '"1"' }).end();
    expect(await send(testMessage(), over)).toMatchObject({ kind: 'delivered' });
    expect(store.asked.at(-1)?.host).toBe(`${bucket}.s3.test:${store.port}`);
    expect(await send(testMessage(), { ...over, bucket: 'others' })).toMatchObject(
      failed(/egress-refused.*others\.s3\.test:\d+ in SVC_EGRESS_ALLOW/),
    );
  });

  it('goes where the region is, when no other store is named', () => {
    expect(kind.shareOf(good)).toBe('https://s3.us-east-1.amazonaws.com');
    expect(kind.shareOf({ ...good, region: 'cn-north-1' })).toBe('https://s3.cn-north-1.amazonaws.com.cn');
    expect(kind.check(good, { production: true, isAllowed: () => false })).toEqual([]);
    const own = { ...good, bucket: 'Old_bucket.name', pathStyle: true, endpointUrl: 'http://minio:9000' };
    expect(kind.check(own, { production: true, isAllowed: (host) => host === 'minio' })).toEqual([]);
  });

  it.each([
    ['another bucket', { bucket: 'others' }, {}, /no bucket "others".*metadata\.bucket/],
    [
      'another key id',
      {},
      { awsKeyId: 'AKIAI44QH8DHBEXAMPLE' },
      /does not know the access key.*secrets\.awsKeyId/,
    ],
    [
      'another key',
      {},
      { awsSecretKey: 'not-the-key-that-it-has' },
      /refuses the signature.*secrets\.awsSecretKey/,
    ],
    [
      'a key that is too long',
      { keyTemplate: `{{id}}${'/a'.repeat(240)}/{{object}}` },
      {},
      /more than 1024 bytes/,
    ],
  ])('%s is a failure with its remedy and without a secret', async (_what, over, own, error) => {
    const message = testMessage(['Ann'], { object: 'o'.repeat(600) });
    const result = await send(message, over, own);
    expect(result).toMatchObject(failed(error));
    for (const secret of Object.values({ ...secrets, ...own }))
      expect(JSON.stringify(result)).not.toContain(secret);
  });

  const xml = (code: string, more = ''): string =>
    `<?xml version="1.0"?><Error><Code>${code}</Code><Message>No, ${secrets.awsSecretKey}.</Message>${more}</Error>`;

  it.each([
    [403, 'AccessDenied', /may not write to the bucket "crm-records".*s3:PutObject/],
    [400, 'ExpiredToken', /expired.*secrets\.awsSessionToken/],
    [301, 'PermanentRedirect', /not in the region us-east-1.*metadata\.region/],
    [400, 'AuthorizationHeaderMalformed', /not in the region us-east-1.*metadata\.region/],
    [403, 'RequestTimeTooSkewed', /the operator has to set the clock/],
    [507, 'QuotaExceeded', /answered 507 \(QuotaExceeded: No, \*\*\*\.\)/],
    [500, 'constructor', /answered 500/],
  ])('%s %s is a failure with its remedy and without a secret', async (status, code, error) => {
    const result = await answering((response) => response.writeHead(status).end(xml(code)));
    expect(result).toMatchObject({ ...failed(error), status });
    expect(JSON.stringify(result)).not.toContain('hunter2');
  });

  it('waits as long as the store asks, and asks it once only', async () => {
    expect(
      await answering((response) => response.writeHead(503, { 'retry-after': '7' }).end(xml('SlowDown'))),
    ).toMatchObject({ ...failed(/slow down/), status: 503, retryAfterMs: 7_000 });
    expect(store.asked).toHaveLength(1);
  });

  it.each([
    ['a page', 200, '<html>Sign in</html>', /no S3 store: metadata\.endpointUrl/],
    ['nothing', 204, '', /no S3 store/],
    ['an error that is none', 500, '<<<', /answered 500/],
    ['an empty error', 403, '', /refused the access key with 403/],
    ['a redirect', 302, '', /302, and redirects are not followed.*metadata\.endpointUrl/],
    [
      'entities in entities',
      400,
      `<!DOCTYPE x [<!ENTITY a "${'b'.repeat(99)}"><!ENTITY c "&a;&a;">]><Error><Code>&c;</Code></Error>`,
      /answered 400/,
    ],
  ])('%s in place of an answer is a failure', async (_what, status, body, error) => {
    const result = await answering((response) =>
      response.writeHead(status, status === 302 ? { location: store.url } : {}).end(body),
    );
    expect(result).toMatchObject(failed(error));
    expect(store.asked).toHaveLength(1);
  });

  it('what is no HTTP is a failure', async () => {
    expect(await answering((response) => response.socket!.end('garbage\r\n\r\n'))).toMatchObject(
      failed(/could not be posted/),
    );
  });

  it('keeps the token of a session out of what is told', async () => {
    const awsSessionToken = 'IQoJb3JpZ2luX2VjEXAMPLE';
    store.answer = (response) => {
      const hex = Buffer.from(String(store.asked.at(-1)?.['x-amz-security-token'])).toString('hex');
      response
        .writeHead(403)
        .end(xml('InvalidToken', `<CanonicalRequestBytes>${hex}</CanonicalRequestBytes>`));
    };
    const result = await send(undefined, {}, { awsSessionToken });
    expect(result).toMatchObject(failed(/secrets\.awsSessionToken/));
    expect(store.asked.at(-1)?.['x-amz-security-token']).toBe(awsSessionToken);
    expect(JSON.stringify(result)).not.toContain(Buffer.from(awsSessionToken).toString('hex'));
  });

  it('takes nothing from the environment of the process', async () => {
    const set = {
      AWS_ENDPOINT_URL: 'http://127.0.0.1:1',
      AWS_ENDPOINT_URL_S3: 'http://127.0.0.1:1',
      AWS_REGION: 'eu-west-9',
      AWS_ACCESS_KEY_ID: 'other',
      AWS_SECRET_ACCESS_KEY: 'other',
      AWS_PROFILE: 'none-such',
      AWS_CONFIG_FILE: '/dev/full',
    };
    Object.assign(process.env, set);
    try {
      expect(await send()).toMatchObject({ kind: 'delivered' });
      expect(store.asked.at(-1)?.authorization).toContain(`${secrets.awsKeyId}/`);
      expect(store.asked.at(-1)?.authorization).toContain('/us-east-1/');
    } finally {
      for (const name of Object.keys(set)) delete process.env[name];
    }
  });
});
