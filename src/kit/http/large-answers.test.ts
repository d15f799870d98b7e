import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { Agent } from 'undici';
import { describe, expect, test } from 'vitest';
import { sendHttp } from './client.ts';
import { createLargeAnswers } from './large-answers.ts';

describe('src/kit/http/large-answers', () => {
  test('reads so many at once, so many of one origin, and the others in their order', async () => {
    const answers = createLargeAnswers({ atOnce: 3, ofOrigin: 2, ofOne: 2 });
    const told: string[] = [];
    const enter = (name: string) => answers.enter(name.charAt(0), undefined, () => told.push(name));
    const all = new Map(['a1', 'a2', 'a3', 'b1', 'b2', 'c1'].map((name) => [name, enter(name)]));
    expect([...all].filter(([, { hasRoom }]) => hasRoom).map(([name]) => name)).toEqual(['a1', 'a2', 'b1']);
    all.get('b2')?.leave();
    all.get('b1')?.leave();
    all.get('b1')?.leave();
    all.get('a1')?.leave();
    await wait(1);
    expect(told).toEqual(['c1', 'a3']);
    for (const place of all.values()) place.leave();
    expect(enter('a4').hasRoom).toBe(true);
  });

  test('reads so many of one customer at an origin, and as many of it elsewhere', async () => {
    const answers = createLargeAnswers({ atOnce: 9, ofOrigin: 4, ofOne: 2 });
    const told: string[] = [];
    const enter = (name: string) => answers.enter(name.charAt(0), name.charAt(1), () => told.push(name));
    const names = ['ax1', 'ax2', 'ax3', 'ax4', 'ay1', 'ay2', 'ay3', 'bx1'];
    const all = new Map(names.map((name) => [name, enter(name)]));
    const atOnce = [...all].filter(([, { hasRoom }]) => hasRoom).map(([name]) => name);
    expect(atOnce).toEqual(['ax1', 'ax2', 'ay1', 'ay2', 'bx1']);
    all.get('ay2')?.leave();
    all.get('ax1')?.leave();
    await wait(1);
    expect(told).toEqual(['ay3', 'ax3']);
  });

  test('reads large answers of one origin a few at a time, and loses none', async () => {
    const calls = 20;
    const large = Buffer.alloc(14 * 1024 * 1024, 'x');
    const answering: ServerResponse[] = [];
    let read = 0;
    const server = createServer((_request, response) => {
      answering.push(response);
      response.write(large, () => (read += 1));
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const egress = new Agent();
    const send = () => sendHttp(egress, { method: 'GET', url }, { timeoutMs: 60_000 });
    const sent = Promise.all(Array.from({ length: calls }, send));
    await expect.poll(() => [answering.length, read], { timeout: 20_000 }).toEqual([calls, 8]);
    await wait(300);
    expect(read).toBe(8);
    for (const response of answering) response.end();
    for (const result of await sent)
      expect('answer' in result && result.answer.body.length).toBe(large.length);
    await egress.destroy();
    server.close();
  }, 60_000);
});
