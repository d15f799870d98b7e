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
