import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { createServer as createSecureServer } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { certificate } from '../../../test/certificate.ts';
import { secured } from './secured.ts';

describe('kit/http/secured', () => {
  const server = createSecureServer(certificate, (socket) => socket.on('error', () => undefined));
  let between: Server;
  const taken: Socket[] = [];
  const portOf = (one: Server): number => (one.address() as AddressInfo).port;

  beforeAll(async () => {
    await once(server.listen(0, '127.0.0.1'), 'listening');
    between = createServer((socket) => {
      const behind = connect(portOf(server), '127.0.0.1');
      taken.push(socket);
      for (const one of [socket, behind]) one.on('error', () => undefined);
      socket.pipe(behind).pipe(socket);
    });
    await once(between.listen(0, '127.0.0.1'), 'listening');
  });
  afterAll(() => {
    for (const socket of taken) socket.destroy();
    for (const one of [between, server]) one.close();
  });

  test('what is no TLS, before anybody listens for errors, ends the connection and no process', async () => {
    const uncaught: unknown[] = [];
    const note = (error: unknown): void => void uncaught.push(error);
    process.on('uncaughtException', note);
    const socket = connect(portOf(between), '127.0.0.1');
    // As one that is dialled.
    socket.on('error', () => undefined);
    const secure = await secured(socket, 'localhost', [certificate.cert]);
    taken.at(-1)?.write('nothing of TLS');
    await wait(100);
    process.off('uncaughtException', note);
    expect({ uncaught, isDestroyed: secure.destroyed }).toEqual({ uncaught: [], isDestroyed: true });
  });
});
