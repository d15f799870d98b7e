import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isPublicAddress, parseAddressRules } from './address.ts';
import { sendHttp } from './client.ts';
import { createEgress } from './egress.ts';

describe('kit/http/egress', () => {
  let server: Server;
  let port: number;
  let received = 0;

  beforeAll(async () => {
    server = createServer((request, response) => {
      received += 1;
      if (request.url === '/hang') return;
      if (request.url === '/refused-large') {
        response.writeHead(409).end('x'.repeat(5000));
        return;
      }
      if (request.url === '/refused-cut' || request.url === '/refused-hang') {
        response.writeHead(429, { 'content-length': '100', 'retry-after': '7' }).write('{"half":');
        if (request.url === '/refused-cut') setTimeout(() => response.destroy(), 20);
        return;
      }
      if (request.url === '/cut') {
        response.writeHead(200, { 'content-length': '100' }).write('half');
        setTimeout(() => response.destroy(), 20);
      } else if (request.url === '/redirect') {
        response.writeHead(302, { location: '/elsewhere' }).end();
      } else {
        response.end(request.url === '/large' ? 'x'.repeat(5000) : 'ok');
      }
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    port = (server.address() as AddressInfo).port;
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  const closed = createEgress({ allow: parseAddressRules([]), connectTimeoutMs: 500 });
  const opened = createEgress({ allow: parseAddressRules(['127.0.0.1']), connectTimeoutMs: 500 });
  const send = (egress: typeof closed, url: string) =>
    sendHttp(egress, { method: 'GET', url }, { timeoutMs: 400, maxAnswerBytes: 1000 });

  test.each([
    '127.0.0.1',
    '127.1.2.3',
    '0.0.0.0',
    '10.0.0.1',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.1.1',
    '169.254.169.254',
    '100.64.0.1',
    '192.0.0.1',
    '192.0.2.1',
    '198.18.0.1',
    '198.51.100.1',
    '203.0.113.1',
    '224.0.0.1',
    '240.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    'fe80::1',
    'fc00::1',
    'fd00:ec2::254',
    'ff02::1',
    '::ffff:127.0.0.1',
    '::ffff:10.0.0.1',
    '::127.0.0.1',
    '64:ff9b::7f00:1',
    '64:ff9b:1::1',
    '2002:7f00:1::',
    '2001::1',
    '2001:db8::1',
    'not an address',
    '',
  ])('%s is not public', (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });

  test.each(['1.1.1.1', '8.8.8.8', '172.32.0.1', '100.128.0.1', '2606:4700::1111', '2a00:1450:4001::1'])(
    '%s is public',
    (address) => {
      expect(isPublicAddress(address)).toBe(true);
    },
  );

  test.each([
    '127.0.0.1',
    'localhost',
    '[::1]',
    '0x7f000001',
    '2130706433',
    '127.1',
    '[::ffff:127.0.0.1]',
    '0177.0.0.1',
  ])('refuses to dial %s, and no byte reaches the server', async (host) => {
    const before = received;
    const result = await send(closed, `http://${host}:${port}/`);
    expect(result).toMatchObject({ fault: { kind: 'refused', sent: false } });
    expect(received).toBe(before);
  });

  test('says of a name that it is refused, and not which address it stands for', async () => {
    const result = await send(closed, `http://localhost:${port}/`);
    const { message } = (result as { fault: { message: string } }).fault;
    expect(message).toContain('localhost');
    expect(message).not.toMatch(/127\.0\.0\.1|::1/);
  });

  test('refuses a port that is not the web’s, and user information', async () => {
    expect(await send(closed, 'http://1.1.1.1:22/')).toMatchObject({
      fault: { kind: 'refused', sent: false },
    });
    expect(await send(opened, `http://user:pass@127.0.0.1:${port}/`)).toMatchObject({
      fault: { kind: 'refused', sent: false },
    });
  });

  test('dials what the operator allows: a host, a host with a port, a range', async () => {
    for (const entry of ['127.0.0.1', `127.0.0.1:${port}`, '127.0.0.0/8']) {
      const egress = createEgress({ allow: parseAddressRules([entry]), connectTimeoutMs: 500 });
      expect(await send(egress, `http://127.0.0.1:${port}/`)).toMatchObject({
        answer: { status: 200, body: 'ok' },
      });
    }
    const other = createEgress({
      allow: parseAddressRules(['127.0.0.1:1', '10.0.0.0/8']),
      connectTimeoutMs: 500,
    });
    expect(await send(other, `http://127.0.0.1:${port}/`)).toMatchObject({ fault: { kind: 'refused' } });
    expect(() => parseAddressRules(['http://a/b'])).toThrow('http://a/b');
  });

  test('says whether a byte may have left: refused connection no, hang and cut yes', async () => {
    expect(await send(opened, 'http://127.0.0.1:1/')).toMatchObject({
      fault: { kind: 'connect', sent: false },
    });
    expect(await send(opened, `http://127.0.0.1:${port}/hang`)).toMatchObject({
      fault: { kind: 'timeout', sent: true },
    });
    expect(await send(opened, `http://127.0.0.1:${port}/cut`)).toMatchObject({
      fault: { kind: 'broken', sent: true },
    });
    expect(await send(opened, `http://127.0.0.1:${port}/large`)).toMatchObject({
      fault: { kind: 'tooLarge', sent: true },
    });
  });

  test('takes the status of an error for the answer, when the rest is too much, lost or late', async () => {
    expect(await send(opened, `http://127.0.0.1:${port}/refused-large`)).toMatchObject({
      answer: { status: 409, body: '' },
    });
    for (const end of ['cut', 'hang']) {
      expect(await send(opened, `http://127.0.0.1:${port}/refused-${end}`)).toMatchObject({
        answer: { status: 429, headers: { 'retry-after': '7' }, body: '{"half":' },
      });
    }
  });

  test('asks right before the first byte, and withholds what came too late', async () => {
    const before = received;
    const url = `http://127.0.0.1:${port}/`;
    const limits = { timeoutMs: 1_000 };
    const late = await sendHttp(
      opened,
      { method: 'POST', url, body: '{}' },
      { ...limits, maySend: () => false },
    );
    expect(late).toMatchObject({ fault: { kind: 'withheld', sent: false } });
    expect(received).toBe(before);
    const open = await sendHttp(
      opened,
      { method: 'POST', url, body: '{}' },
      { ...limits, maySend: () => true },
    );
    expect(open).toMatchObject({ answer: { status: 200 } });
  });

  test('does not follow a redirect', async () => {
    const before = received;
    expect(await send(opened, `http://127.0.0.1:${port}/redirect`)).toMatchObject({
      answer: { status: 302 },
    });
    expect(received).toBe(before + 1);
  });
});
