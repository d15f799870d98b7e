import { connect, createServer, type AddressInfo } from 'node:net';
import { createSecureContext, TLSSocket } from 'node:tls';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { certificate } from '../../../test/certificate.ts';
import { refusal } from '../../../test/postgres-frames.ts';
import { parseAddressRules } from '../../kit/http/address.ts';
import { createEgress } from '../../kit/http/egress.ts';
import { messageOf, openWarehouse, type Entry, type Warehouse } from './harness.fixture.ts';
import { createPostgres } from './index.ts';

/** Speaks TLS as PostgreSQL does, and passes on what it decrypts. */
async function startTls(port: number): Promise<{ port: number; close(): void }> {
  const secureContext = createSecureContext(certificate);
  const server = createServer((near) => {
    near.once('data', () => {
      near.write('S');
      const secure = new TLSSocket(near, { isServer: true, secureContext });
      const far = connect(port, '127.0.0.1');
      secure.pipe(far).pipe(secure);
      for (const socket of [near, secure, far]) {
        socket.on('error', () => near.destroy());
        socket.on('close', () => far.destroy());
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '0.0.0.0', resolve));
  return { port: (server.address() as AddressInfo).port, close: () => server.close() };
}

describe('src/deliveries/postgres, what is refused', () => {
  let warehouse: Warehouse;
  let url: URL;
  const kind = createPostgres({ timeoutMs: 5_000 });

  beforeAll(async () => {
    warehouse = await openWarehouse();
    url = new URL(warehouse.metadata.url);
  });
  beforeEach(async () => {
    await warehouse.rows('DROP SCHEMA crm CASCADE; CREATE SCHEMA crm');
  });
  afterAll(async () => {
    await kind.close?.();
    await warehouse.close();
  });

  const send = (entries: readonly Entry[], over = {}): Promise<unknown> =>
    warehouse.send(kind, messageOf(entries), over);
  const rows = (text: string): Promise<Record<string, unknown>[]> => warehouse.rows(text);
  const failed = (error: RegExp): object => ({
    kind: 'failed',
    error: expect.stringMatching(error) as string,
  });
  const withUrl = (change: (copy: URL) => void): string => {
    const copy = new URL(url);
    change(copy);
    return copy.href;
  };
  const someone = [{ mapped: { name: 'Ann' } }];

  it.each([
    ['integer', 'name', 'Ann', /column "name" of the type integer \(invalid input.*Ann.*to text/],
    ['character varying(2)', 'name', 'Ann', /column "name" of the type character varying \(value too long/],
    ['char(3)', 'name', 'Anna', /column "name" of the type character \(value too long/],
    ['short', 'name', 'Ann', /column "name" of the type crm\.short \(value too long/],
    ['bit(2)', 'flags', '101', /column "flags" of the type bit \(bit string length/],
    ['varchar(2)[]', 'tags', '{Ann}', /column "tags" of the type character varying\[\] \(value too long/],
    ['timestamptz', 'at', 'soon', /column "at" of the type timestamp with time zone/],
    ['text[]', 'tags', ['a'], /column "tags" of the type text\[\]/],
    ['boolean', 'vip', 7.5, /column "vip" of the type boolean/],
  ])(
    'tells which column of the type %s has no room for a value, and keeps nothing',
    async (type, name, value, why) => {
      await rows('CREATE DOMAIN crm.short AS varchar(2)');
      await send([{ mapped: { first: 'x' } }]);
      await rows(`ALTER TABLE crm.people ADD COLUMN "${name}" ${type.replace('short', 'crm.short')}`);
      const entries = [
        { id: '2', mapped: { first: 'y' } },
        { id: '3', mapped: { first: 'z', [name]: value } },
      ];
      expect(await send(entries)).toEqual(failed(why));
      expect(await rows('SELECT record_id FROM crm.people')).toEqual([{ record_id: '1' }]);
      await rows(`ALTER TABLE crm.people ALTER COLUMN "${name}" TYPE text USING NULL`);
      expect(await send(entries)).toEqual({ kind: 'delivered' });
    },
  );

  it.each([
    ['"char"', /The column "name" of the table "crm\.people" has the type "char", which cuts/],
    ['name', /The column "name" of the table "crm\.people" has the type name, which cuts/],
    ['text GENERATED ALWAYS AS (1::text) STORED', /column "name" of the type text \(cannot insert/],
  ])('refuses a column %s', async (type, why) => {
    await send([{ mapped: { first: 'x' } }]);
    await rows(`ALTER TABLE crm.people ADD COLUMN "name" ${type}, ADD COLUMN "unused" "char"`);
    expect(await send([{ id: '2', mapped: { name: 'Ann' } }])).toEqual(failed(why));
    expect(await send([{ id: '3', mapped: { first: 'y' } }])).toEqual({ kind: 'delivered' });
  });

  it.each([
    [
      'ALTER COLUMN installation_id TYPE char(3)',
      /crm\.people" \(value too long.*give it the columns installation_id/,
    ],
    ['ALTER COLUMN record_id TYPE char(2)', /crm\.people" \(value too long/],
    ['ALTER COLUMN raw TYPE int USING NULL', /crm\.people" \(invalid input syntax for type integer/],
    ['ALTER COLUMN _svc_version DROP DEFAULT, ALTER COLUMN _svc_version TYPE int USING 1', /crm\.people" \(/],
  ])('refuses a fixed column of its own that has no room: %s', async (change, why) => {
    await rows(
      `CREATE TABLE crm.people (installation_id text, record_id text, _svc_version text NOT NULL DEFAULT '', raw jsonb,
        PRIMARY KEY (installation_id, record_id))`,
    );
    await rows(`ALTER TABLE crm.people ${change}`);
    expect(await send([{ id: '501', mapped: { first: 'y' } }])).toEqual(failed(why));
    expect(await rows('SELECT FROM crm.people')).toEqual([]);
  });

  it('keeps records apart whose ids fill a column of the customer', async () => {
    await rows(
      'CREATE TABLE crm.people (installation_id char(36), record_id char(3), PRIMARY KEY (installation_id, record_id))',
    );
    const entries = ['501', '502', '50'].map((id) => ({ id, mapped: { name: `of ${id}` } }));
    expect(await send(entries)).toEqual({ kind: 'delivered' });
    expect(await rows('SELECT record_id::text AS id, name FROM crm.people ORDER BY 1')).toEqual(
      ['50', '501', '502'].map((id) => ({ id, name: `of ${id}` })),
    );
  });

  it('uses columns of the types that the customer chose', async () => {
    await send(someone);
    await rows(
      'ALTER TABLE crm.people ADD COLUMN born date, ADD COLUMN score numeric(4,1), ADD COLUMN n bigint, ADD COLUMN doc json',
    );
    await rows('ALTER TABLE crm.people ALTER COLUMN installation_id TYPE uuid USING installation_id::uuid');
    const mapped = { born: '2001-02-03', score: '7.5', n: 12, doc: { a: 1 } };
    expect(await send([{ id: '2', mapped }])).toEqual({ kind: 'delivered' });
    expect(
      await rows(`SELECT born::text, score, n, doc, installation_id FROM crm.people WHERE record_id = '2'`),
    ).toEqual([{ ...mapped, n: '12', installation_id: messageOf([]).installationId }]);
  });

  it.each([
    ['a view', 'CREATE VIEW crm.people AS SELECT 1 AS a', /"crm\.people" is there and no table.*tablePrefix/],
    [
      'a table of somebody',
      'CREATE TABLE crm.people (id int)',
      /has no column "installation_id".*tablePrefix/,
    ],
    [
      'a table without the key',
      'CREATE TABLE crm.people (installation_id text, record_id text)',
      /no primary key \(installation_id, record_id\)/,
    ],
    [
      'a rule of the customer',
      'CREATE TABLE crm.people (installation_id text, record_id text, name text CONSTRAINT short CHECK (length(name) < 3), PRIMARY KEY (installation_id, record_id))',
      /refuses a row.*drop the constraint "short"/,
    ],
    [
      'a column that must not be empty',
      'CREATE TABLE crm.people (installation_id text, record_id text, owner text NOT NULL, PRIMARY KEY (installation_id, record_id))',
      /refuses a row.*drop the rule of the column "owner"/,
    ],
    ['no schema', 'DROP SCHEMA crm', /no schema "crm": make it with CREATE SCHEMA/],
    [
      'no right to make a table',
      'REVOKE CREATE ON SCHEMA crm FROM CURRENT_USER',
      /lacks a right.*CREATE on the schema "crm"/,
    ],
  ])('refuses where there is %s', async (_what, made, why) => {
    await rows(made);
    expect(await send(someone)).toEqual(failed(why));
    await rows('CREATE SCHEMA IF NOT EXISTS crm');
  });

  it('takes a table that the customer made with the key', async () => {
    await rows(
      'CREATE TABLE crm.people (record_id text, installation_id text, PRIMARY KEY (installation_id, record_id))',
    );
    expect(await send(someone)).toEqual({ kind: 'delivered' });
    expect(await rows('SELECT name, _svc_deleted FROM crm.people')).toEqual([
      { name: 'Ann', _svc_deleted: false },
    ]);
  });

  it('refuses a table that it may not write to, and one that a view holds as it is', async () => {
    await send([{ mapped: { n: 1 } }]);
    await rows('REVOKE INSERT ON crm.people FROM CURRENT_USER');
    expect(await send([{ mapped: { n: 2 } }])).toEqual(
      failed(/lacks a right \(permission denied for table people\)/),
    );
    await rows(
      'GRANT INSERT ON crm.people TO CURRENT_USER; CREATE VIEW crm.seen AS SELECT n FROM crm.people',
    );
    expect(await send([{ mapped: { n: 'two' } }])).toEqual(
      failed(/cannot be changed.*view.*remove what depends/s),
    );
  });

  it('tells at a test that no table can be made', async () => {
    expect(await send([])).toEqual({ kind: 'delivered' });
    await rows('REVOKE CREATE ON SCHEMA crm FROM CURRENT_USER');
    expect(await send([])).toEqual(failed(/may not make tables in the schema "crm"/));
    await rows(
      'GRANT CREATE ON SCHEMA crm TO CURRENT_USER; CREATE TABLE crm.people (record_id text); REVOKE CREATE ON SCHEMA crm FROM CURRENT_USER',
    );
    expect(await send([])).toEqual({ kind: 'delivered' });
    await rows('DROP SCHEMA crm CASCADE');
    expect(await send([])).toEqual(failed(/no schema "crm"/));
    await rows('CREATE SCHEMA crm');
  });

  it.each([
    ['another password', { password: 'something else' }, /refused the user "svc".*secrets\.password/],
    [
      'a user that is not there',
      () => ({ url: withUrl((at) => (at.username = 'nobody')) }),
      /refused the user "nobody"/,
    ],
    [
      'a database that is not there',
      () => ({ url: withUrl((at) => (at.pathname = '/gone')) }),
      /no database "gone"/,
    ],
    [
      'TLS where there is none',
      () => ({ url: withUrl((at) => at.searchParams.set('sslmode', 'require')) }),
      /speaks no TLS.*sslmode=disable/,
    ],
    [
      'an address inside',
      () => ({ url: withUrl((at) => (at.hostname = '127.0.0.9')) }),
      /is not called \(egress-refused\): 127\.0\.0\.9 is not a public address.*SVC_EGRESS_ALLOW/,
    ],
    [
      'no name',
      () => ({ url: withUrl((at) => (at.hostname = 'nowhere.invalid')) }),
      /nowhere\.invalid.*(not known|now)/,
    ],
  ])('refuses %s', async (_what, over, why) => {
    const result = await send(someone, typeof over === 'function' ? over() : over);
    expect(result).toEqual(expect.objectContaining(failed(why)));
  });

  it('takes no password from the environment', async () => {
    process.env['PGPASSWORD'] = warehouse.password;
    try {
      expect(await send(someone, { password: 'x' })).toEqual(failed(/refused the user/));
    } finally {
      delete process.env['PGPASSWORD'];
    }
  });

  it('trusts a certificate as far as sslmode tells', async () => {
    const tls = await startTls(Number(url.port));
    const at = (mode: string, host = 'localhost'): string =>
      withUrl((copy) => {
        copy.hostname = host;
        copy.port = String(tls.port);
        copy.searchParams.set('sslmode', mode);
      });
    const open = (extraCa?: string) =>
      createEgress({
        allow: parseAddressRules(['127.0.0.0/8', '::1/128']),
        connectTimeoutMs: 1_000,
        ...(extraCa ? { extraCa } : {}),
      });
    const [trusting, plain] = [open(certificate.cert), open()];
    const tried = async (egress: typeof plain, where: string): Promise<unknown> =>
      warehouse.send(kind, messageOf(someone), { url: where }, egress);
    expect(await tried(plain, at('require'))).toEqual({ kind: 'delivered' });
    expect(await tried(plain, at('verify-full'))).toEqual(
      failed(/certificate of localhost:\d+ is not trusted/),
    );
    expect(await tried(plain, at('verify-ca'))).toEqual(failed(/is not trusted/));
    expect(await tried(trusting, at('verify-full'))).toEqual({ kind: 'delivered' });
    expect(await tried(trusting, at('verify-full', '127.0.0.2'))).toEqual(failed(/is not trusted/));
    expect(await tried(trusting, at('verify-ca', '127.0.0.2'))).toEqual({ kind: 'delivered' });
    tls.close();
    await Promise.all([trusting.close(), plain.close()]);
  });

  describe('an answer that is none', () => {
    const message = (letter: string, body: Buffer): Buffer => {
      const head = Buffer.from(`${letter}0000`);
      head.writeUInt32BE(4 + body.length, 1);
      return Buffer.concat([head, body]);
    };
    const welcome = Buffer.concat([message('R', Buffer.alloc(4)), message('Z', Buffer.from('I'))]);
    it.each([
      ['of another protocol', Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n')],
      ['an error without its end', message('E', Buffer.from('SFATAL\0'))],
      ['a text without its end', message('S', Buffer.from('name'))],
      ['a count that is wrong', Buffer.concat([welcome, message('T', Buffer.from([127, 255]))])],
      ['a negative count', Buffer.concat([welcome, message('D', Buffer.from([255, 255]))])],
      ['a way to log in that nobody knows', message('R', Buffer.from([0, 0, 0, 99]))],
      ['a copy that nobody asked for', Buffer.concat([welcome, message('G', Buffer.alloc(3))])],
      ['rows that nobody asked for', Buffer.concat([welcome, message('D', Buffer.alloc(2))])],
      ['an error in time', Buffer.concat([welcome, refusal('XX000')])],
      [
        'without end',
        Buffer.concat([
          welcome,
          ...Array.from({ length: 90 }, () => message('S', Buffer.alloc(60_000, 'a\0b\0'))),
        ]),
      ],
    ])('is a failure: %s', async (_what, answer) => {
      const server = createServer((socket) => {
        socket.on('error', () => undefined);
        socket.once('data', () => socket.write(answer));
      });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      const { port } = server.address() as AddressInfo;
      const impatient = createPostgres({ timeoutMs: 1_500 });
      const result = await warehouse.send(impatient, messageOf(someone), {
        url: withUrl((at) => (at.port = String(port))),
      });
      expect(result).toEqual(expect.objectContaining(failed(/./)));
      expect(JSON.stringify(result)).not.toContain('did not answer');
      await impatient.close?.();
      server.close();
    });
  });
});
