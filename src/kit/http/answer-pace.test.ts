import { expect, test } from 'vitest';
import { sendHttp } from './client.ts';
import { startTinyProvider } from './tiny-provider.fixture.ts';

test('kit/http/answer-pace: takes few of many tiny chunks in a turn, and all of them', async () => {
  const count = 45_000;
  const provider = await startTinyProvider(count);
  const result = await sendHttp(
    provider.egress,
    { method: 'GET', url: `${provider.origin}/` },
    { timeoutMs: 10_000 },
  );
  await provider.close();
  expect(result).toEqual({ answer: expect.objectContaining({ status: 200, body: 'x'.repeat(count) }) });
  // One read of 64 KiB holds ten thousand.
  expect(provider.mostInTurn()).toBeLessThan(2_100);
});
