import { spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { startHubspot } from './hubspot/index.ts';
import { startSalesforce } from './salesforce/index.ts';

type Run = { code: number | null; out: string; err: string };

/** Runs the command until it ends, or until `enough` accepts its output. */
function command(args: string[], enough?: (out: string) => boolean): Promise<Run> {
  const child = spawn(process.execPath, ['simulator/main.ts', ...args], { stdio: 'pipe' });
  const run: Run = { code: null, out: '', err: '' };
  child.stdout.on('data', (chunk: Buffer) => {
    run.out += chunk.toString();
    if (enough?.(run.out)) child.kill('SIGTERM');
  });
  child.stderr.on('data', (chunk: Buffer) => (run.err += chunk.toString()));
  return new Promise((resolve) => child.once('exit', (code) => resolve({ ...run, code })));
}

/** Every `curl` line of a page, with what it sends. */
function curlsOf(page: string): { method: string; url: string; body: string | null }[] {
  const text = page.replaceAll(/&#(\d+);/g, (_all, code: string) => String.fromCharCode(Number(code)));
  return [...text.matchAll(/^(?:<[^>]*>)*.*?curl -s( -X DELETE)? (http\S+?)(?: -d '(.*?)')?<\/pre>/gm)].map(
    ([, isDelete, url = '', body]) => ({
      method: isDelete ? 'DELETE' : body === undefined ? 'GET' : 'POST',
      url,
      body: body ?? null,
    }),
  );
}

describe('simulator/main', () => {
  it('explains itself', async () => {
    const { code, out } = await command(['--help']);
    expect([code, out]).toEqual([0, expect.stringContaining('port 4010')]);
    const wrong = await command(['pipedrive']);
    expect([wrong.code, wrong.err]).toEqual([1, expect.stringContaining('no simulator "pipedrive"')]);
    expect((await command(['--port', 'x'])).err).toContain('--port x is not a number');
  });

  it('starts both, and says how the platform is pointed at them', async () => {
    const { code, out } = await command(['--port', '0', '--records', '3'], (said) =>
      said.includes('npm start'),
    );
    expect(code).toBe(0);
    expect(out).toMatch(/^hubspot: http:\/\/127\.0\.0\.1:\d+ /m);
    expect(out).toMatch(
      /SVC_PROVIDER_ORIGINS=hubspot=\S+,salesforce=\S+ SVC_EGRESS_ALLOW=127\.0\.0\.1:\d+,\S+ npm start/,
    );
  });

  it('says which port is taken, and leaves nothing running', async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
    const address = taken.address();
    const port = typeof address === 'object' && address ? address.port : 0;
    const { code, err } = await command(['hubspot', '--port', String(port)]);
    expect([code, err]).toEqual([1, expect.stringContaining(`Port ${port} for hubspot is taken`)]);
    taken.close();
  });

  it.each([
    ['hubspot', startHubspot],
    ['salesforce', startSalesforce],
  ])('shows at its address what %s has, with a curl for every control that works', async (name, start) => {
    const running = await start({ records: 3 });
    const answer = await fetch(running.url);
    expect(answer.headers.get('content-type')).toContain('text/html');
    const page = await answer.text();
    expect(page).toContain(`SVC_PROVIDER_ORIGINS=${name}=${running.url}`);
    expect(page).toMatch(
      name === 'hubspot' ? /contacts: 3<.*&#34;email&#34;/s : /Contact: 3<.*&#34;Email&#34;/s,
    );
    const settings = await (await fetch(`${running.url}/__sim/settings`, { method: 'POST' })).json();
    for (const setting of Object.keys(settings as object)) expect(page).toContain(`<code>${setting}</code>`);
    const curls = curlsOf(page).filter(({ url }) => url.includes('/__sim/') && !url.includes(':object'));
    expect(curls.length).toBeGreaterThan(15);
    for (const { method, url, body } of curls) {
      const done = await fetch(url, { method, body });
      expect([method, url, done.status, done.ok ? '' : await done.text()]).toEqual([method, url, 200, '']);
    }
    await running.close();
  });
});
