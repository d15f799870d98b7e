import { afterEach, describe, expect, it, vi } from 'vitest';
import { createTokens, isDevelopment, type GivenToken } from '../src/hooks/tokens.ts';

const ada = { groupRef: 'acme', consumerRef: 'ada' };

describe('ui/embed/tokens', () => {
  afterEach(() => {
    vi.unstubAllGlobals();
    vi.useRealTimers();
  });

  async function told(given: GivenToken): Promise<{ token: string; said: string }> {
    const said: string[] = [];
    vi.spyOn(console, 'error').mockImplementation((text: string) => void said.push(text));
    const token = await createTokens(async () => given, ada)
      .get()
      .catch(({ code }: { code: string }) => `refused: ${code}`);
    return { token, said: said.join(' ') };
  }

  it('says that an API key is no token for a page, and goes on with it', async () => {
    const { token, said } = await told('svc_1_2');
    expect(token).toBe('svc_1_2');
    expect(said).toContain('getToken answered an API key');
    expect(said).toContain('for development only');
  });

  it.each([
    [{ ...ada, groupRef: 'other' }, 'a token of the groupRef other, for the groupRef acme'],
    [{ ...ada, consumerRef: 'bob' }, 'a token of the consumerRef bob, for the consumerRef ada'],
  ])('refuses a token of svc that is somebody else’s: %j', async (whose, text) => {
    const { token, said } = await told({ token: 'svcf_x', ...whose });
    expect(token).toBe('refused: token-missing');
    expect(said).toContain(text);
  });

  it('takes a token of svc that is this person’s, and one that nobody says whose it is', async () => {
    for (const given of [{ token: 'svcf_x', ...ada }, { token: 'svcf_x' }, 'svcf_x'])
      expect(await told(given)).toEqual({ token: 'svcf_x', said: '' });
  });

  it('waits for no server that does not answer, and asks it again', async () => {
    vi.useFakeTimers();
    const answers = [new Promise<string>(() => undefined), Promise.resolve('svcf_x')];
    const tokens = createTokens(async () => answers.shift() ?? '', ada);
    const first = tokens.get().catch(({ code }: { code: string }) => `refused: ${code}`);
    await vi.advanceTimersByTimeAsync(14_000);
    // Whoever asks meanwhile waits for the same.
    expect(answers.length).toBe(1);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await first).toBe('refused: token-unavailable');
    expect(await tokens.get()).toBe('svcf_x');
  });

  it.each([
    ['localhost', true],
    ['shop.localhost', true],
    ['127.0.0.1', true],
    ['app.example.com', false],
    ['localhost.example.com', false],
  ])('takes a page at %s for one in development: %s', (hostname, is) => {
    vi.stubGlobal('location', { hostname });
    expect(isDevelopment()).toBe(is);
  });
});
