import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { openFolder } from './run.fixture.ts';

describe('cli/doctor', () => {
  it('says of a server that listens and is silent that it did not answer, not that it is away', async () => {
    const at = await openFolder();
    const silent = createServer().listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    const { code, out } = await at.run(['doctor', '--url', `http://127.0.0.1:${port}`]);
    expect(code).toBe(4);
    expect(out).toContain(`http://127.0.0.1:${port} did not answer in 5 s`);
    expect(out).not.toMatch(/cannot be reached|Start svc/);
    silent.close();
    await at.close();
  }, 60_000);
});
