import { connect, type AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { patienceWithHeaders } from '../../../test/slow-headers.ts';
import { createTestDatabase } from '../../../test/database.ts';
import { groundOf } from '../../operations/harness.fixture.ts';
import { createProxyServer } from './server.ts';

it(
  'the proxy ends a connection within seconds of the time that its headers have',
  { timeout: 40_000 },
  async () => {
    const test = await createTestDatabase();
    const proxy = createProxyServer({ ground: groundOf(test.database) } as never, { proxyLogKeepDays: 7 });
    expect(proxy.server.headersTimeout).toBe(30_000);
    expect(await patienceWithHeaders(proxy.server, 100)).toBeLessThan(10_000);
    await proxy.close();
    await test.drop();
  },
);

it(
  'the proxy still answers a call under way when the headers of the next one do not come in time',
  { timeout: 40_000 },
  async () => {
    const test = await createTestDatabase();
    const proxy = createProxyServer({ ground: groundOf(test.database) } as never, { proxyLogKeepDays: 7 });
    // In place of a call that its provider answers late.
    proxy.server.off('request', proxy.server.listeners('request').at(-1) as () => void);
    let isGone = false;
    proxy.server.on('request', (_request, response) => {
      response.once('close', () => (isGone = !response.writableFinished));
      proxy.server.once('clientError', () => setTimeout(() => response.end('late'), 200));
    });
    await new Promise<void>((resolve) => proxy.server.listen(0, '127.0.0.1', resolve));
    proxy.server.headersTimeout = 100;
    const socket = connect((proxy.server.address() as AddressInfo).port, '127.0.0.1');
    socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\nGET / HTTP/1.1\r\n');
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 200 OK[^]*late$/);
    expect(isGone).toBe(false);
    await proxy.close();
    await test.drop();
  },
);
