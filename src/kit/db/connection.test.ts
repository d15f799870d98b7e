import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { refusal } from '../../../test/postgres-frames.ts';
import { openDatabase } from './database.ts';

/** AuthenticationOk, and ReadyForQuery. */
const welcome = Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 0, 0x5a, 0, 0, 0, 5, 0x49]);

describe('kit/db/connection', () => {
  it('survives a session that is ended with the very bytes by which it is given', async () => {
    const server = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.once('data', () => socket.end(Buffer.concat([welcome, refusal('57P01')])));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const database = openDatabase({
      url: `postgres://svc@127.0.0.1:${port}/svc?sslmode=disable`,
      poolSize: 1,
      applicationName: 'test',
    });
    onTestFinished(async () => {
      await database.close();
      server.close();
    });
    const away = { code: 'database-unavailable' };
    await expect(database.transaction(() => Promise.resolve())).rejects.toMatchObject(away);
    await expect(database.raw('SELECT 1')).rejects.toMatchObject(away);
  });
});
