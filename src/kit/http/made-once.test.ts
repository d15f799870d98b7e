import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { fastify } from 'fastify';
import { describe, expect, it } from 'vitest';
import { madeOnce } from './made-once.ts';

describe('kit/http/made-once', () => {
  const document = { names: Array.from({ length: 200 }, (_, n) => `name ${n}`) };
  let times = 0;
  const server = fastify();
  server.addHook('onRequest', async (_request, reply) => {
    reply.header('vary', 'Origin');
  });
  server.get(
    '/document',
    madeOnce(() => ((times += 1), document)),
  );
  const get = (headers: Record<string, string> = {}) => server.inject({ url: '/document', headers });

  it('answers in a coding that the caller takes, and as it is otherwise', async () => {
    const plain = await get();
    expect(plain.json()).toEqual(document);
    expect(plain.headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      vary: 'Origin, Accept-Encoding',
      'cache-control': 'public, no-cache',
    });
    expect(plain.headers['content-encoding']).toBeUndefined();
    const br = await get({ 'accept-encoding': 'gzip, deflate, br' });
    expect(br.headers['content-encoding']).toBe('br');
    expect(brotliDecompressSync(br.rawPayload).toString()).toBe(plain.body);
    const gz = await get({ 'accept-encoding': 'br;q=0, GZIP;q=0.5' });
    expect(gz.headers['content-encoding']).toBe('gzip');
    expect(gunzipSync(gz.rawPayload).toString()).toBe(plain.body);
    expect((await get({ 'accept-encoding': '*' })).headers['content-encoding']).toBe('br');
    expect((await get({ 'accept-encoding': 'identity' })).body).toBe(plain.body);
    expect(times).toBe(1);
  });

  it('answers 304 to who has it', async () => {
    const etag = String((await get()).headers.etag);
    for (const tag of [etag, etag.slice(2), `"other", ${etag}`, '*']) {
      const answer = await get({ 'if-none-match': tag, 'accept-encoding': 'br' });
      expect(answer.statusCode).toBe(304);
      expect(answer.body).toBe('');
      expect(answer.headers).toMatchObject({ etag, vary: 'Origin, Accept-Encoding' });
    }
    expect((await get({ 'if-none-match': '"other"' })).statusCode).toBe(200);
  });
});
