import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { below, exported, imported, startTwoServers, type TwoServers } from '../two-servers.ts';

describe('test/journeys/transfer-settings', () => {
  let servers: TwoServers;

  beforeAll(async () => {
    servers = await startTwoServers({ SVC_MESSAGE_KEEP_DAYS: '10' });
  });
  afterAll(() => servers?.stop());

  it('days that the operator does not keep come in as those that he keeps, and a warning tells of it', async () => {
    const { home, away } = servers;
    const keepDays = { messages: 20, proxyLogs: 3 };
    expect(
      await home.call('PATCH', below(home, ''), { updateMask: ['keepDays'], project: { keepDays } }),
    ).toMatchObject({ status: 200 });
    const { file } = await exported(home, { move: false });
    const came = await imported(away, file);
    expect(came).toMatchObject({ status: 200, body: { created: { settings: 1 } } });
    expect(came.body.warnings).toEqual([
      {
        message: expect.stringMatching(
          /^keepDays\.messages of the file is 20, .* more than 10 here/,
        ) as string,
      },
    ]);
    expect(await away.call('GET', below(away, ''))).toMatchObject({
      body: { keepDays: { messages: 10, proxyLogs: 3 } },
    });
    // The project has settings of its own now, and those of the file stay out.
    expect((await imported(away, file)).body.warnings).toEqual([]);
  });
});
