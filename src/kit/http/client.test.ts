import { expect, test } from 'vitest';
import { sendHttp } from './client.ts';
import { startTinyProvider } from './tiny-provider.fixture.ts';

test('kit/http/client: says of an answer that the parser refuses by an assertion that it is not HTTP', async () => {
  const provider = await startTinyProvider(1, '099 Low');
  const request = { method: 'GET', url: `${provider.origin}/` } as const;
  const result = await sendHttp(provider.egress, request, { timeoutMs: 10_000 });
  await provider.close();
  expect(result).toEqual({ fault: { kind: 'broken', sent: true, message: 'the answer is not valid HTTP' } });
});
