import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { freePort } from '../../../test/free-port.ts';
import { eventKinds, sentenceOf } from '../../events/index.ts';
import type { Ground } from '../../kit/ground.ts';
import { parseAddressRules } from '../../kit/http/address.ts';
import { createEgress } from '../../kit/http/egress.ts';
import type { Delivered, OutgoingMessage } from '../kind.ts';
import { testDestinationKind, testMessage, type Behaviour, type KindWorld } from '../kind.testsuite.ts';
import { createSlack } from './index.ts';
import { textOf } from './text.ts';

type Answer = (response: ServerResponse) => void;

interface Posted {
  id: string;
  text: string;
}

const path = '/services/T000/B000/hunter2';

/** Takes posts as Slack does: any other path is unknown, and what is taken is answered `ok`. */
async function startChannel() {
  const posted: Posted[] = [];
  const state = { answer: answers.well };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      if (request.url !== path) {
        response.writeHead(404).end('no_service');
        return;
      }
      const { text } = JSON.parse(Buffer.concat(chunks).toString()) as { text: string };
      posted.push({ id: String(request.headers['webhook-id']), text });
      state.answer(response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`,
    posted,
    state,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const answers: Record<Behaviour, Answer> = {
  well: (response) => response.writeHead(200).end('ok'),
  refuses: (response) => response.writeHead(403).end('action_prohibited'),
  hangs: () => undefined,
};
const egress = createEgress({ allow: parseAddressRules(['127.0.0.1']), connectTimeoutMs: 1_000 });
const ground = { egress } as unknown as Ground;
const kind = createSlack({ timeoutMs: 400 });

/** What the text holds of the message. */
function bodyIn(text: string): string {
  const block = /```(.*)```$/s.exec(text)?.[1] ?? '';
  return block.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
}

testDestinationKind({
  type: 'slack',
  patienceMs: 3_000,
  async open(): Promise<KindWorld> {
    const channel = await startChannel();
    const shown = new Map<string, string[]>();
    let how: Behaviour = 'well';
    channel.state.answer = (response) => {
      const { id, text } = channel.posted.at(-1)!;
      const { result } = JSON.parse(bodyIn(text)) as { result: { raw: { id: string; name: string } }[] };
      if (how === 'well')
        shown.set(
          id,
          result.map(({ raw }) => `${raw.id} ${raw.name}`),
        );
      answers[how](response);
    };
    return {
      kind,
      metadata: { url: channel.url },
      secrets: {},
      nowhere: { url: `http://127.0.0.1:${await freePort()}${path}` },
      behave: async (next) => void (how = next),
      arrived: async () => [...shown.values()].flat().toSorted(),
      context: { ground },
      close: () => channel.close(),
    };
  },
  shown: ({ id, name }) => `${id} ${name}`,
  nonsense: [
    ['no URL', {}, 'metadata.url'],
    ['what is no URL', { url: 'services/T0' }, 'metadata.url'],
    ['another host', { url: 'https://example.com/services/T0' }, 'metadata.url'],
    ['a host that only ends so', { url: 'https://hooks.slack.com.example.com/services/T0' }, 'metadata.url'],
    ['a URL in the clear', { url: 'http://hooks.slack.com/services/T0' }, 'metadata.url'],
    ['user information', { url: 'https://a:b@hooks.slack.com/services/T0' }, 'metadata.url'],
    [
      'a property of another kind',
      { url: 'https://hooks.slack.com/services/T0', headers: {} },
      'metadata.headers',
    ],
  ],
});

describe('deliveries/slack', () => {
  let channel: Awaited<ReturnType<typeof startChannel>>;
  beforeAll(async () => {
    channel = await startChannel();
  });
  beforeEach(() => {
    channel.posted.length = 0;
    channel.state.answer = answers.well;
  });
  afterAll(async () => {
    await channel.close();
    await egress.close();
  });

  const send = (url = channel.url, message: OutgoingMessage = testMessage()): Promise<Delivered> =>
    kind.deliver(
      message,
      { id: 'd', projectId: message.projectId, name: 'mine', metadata: { url }, secrets: {} },
      { ground, signal: new AbortController().signal, mayStillSend: () => true },
    );
  const answering = (status: number, said: string, headers = {}): Promise<Delivered> => {
    channel.state.answer = (response) => response.writeHead(status, headers).end(said);
    return send();
  };
  const failed = (error: RegExp) => ({
    kind: 'failed',
    error: expect.stringMatching(error) as string,
  });

  it('takes the hosts of Slack, and those that the operator names', () => {
    const strict = { production: true, isAllowed: (host: string) => host === 'chat.example.com' };
    for (const url of [
      'https://hooks.slack.com/services/T0',
      'https://hooks.slack-gov.com/services/T0',
      'http://chat.example.com/hooks/1',
    ])
      expect(kind.check({ url }, strict)).toEqual([]);
  });

  it('says in a sentence what came, and shows the message below', async () => {
    await send();
    await send(undefined, testMessage(['Ann'], { replay: true }));
    await send(undefined, testMessage([]));
    expect(channel.posted.map(({ text }) => text.split('\n')[0])).toEqual([
      ':package: 2 records of people for acme.',
      ':package: 1 record of people for acme. (sent again)',
      ':wave: What is sent to this destination arrives here.',
    ]);
  });

  it('says a notification in the words of its type', async () => {
    const data = { ...eventKinds['connection.created'].sample, groupRef: 'a<b' };
    const body = JSON.stringify({ notificationType: 'connection.created', data });
    await send(
      undefined,
      testMessage([], { notificationType: 'connection.created', body: async () => Buffer.from(body) }),
    );
    const [{ text }] = channel.posted as [Posted];
    const sentence = sentenceOf('connection.created', data).replaceAll('<', '&lt;');
    expect(text.split('\n')[0]).toBe(`:bell: ${sentence}`);
    expect(bodyIn(text)).toBe(body);
  });

  it('shows what a customer wrote as it is: no mention, no link, no end of the block', () => {
    const hostile = { records: 1, object: '<!channel>', groupRef: 'a&b ```', replay: false };
    const text = textOf(hostile, '{"name":"<!everyone> ```out & <https://x.example|here>"}');
    expect(text).not.toMatch(/[<>]/);
    expect(text.match(/```/g)).toHaveLength(2);
    expect(text).toContain('&lt;!channel&gt; for a&amp;b');
  });

  it('cuts a long message between two characters, and says so', () => {
    const text = textOf(
      { records: 1, object: 'people', groupRef: 'acme', replay: false },
      `"${'😀'.repeat(9_000)}"`,
    );
    expect(text.length).toBeLessThan(16_000);
    expect(text.isWellFormed()).toBe(true);
    expect(text).toMatch(/ …```$/);
  });

  it.each([
    [404, 'no_service', /no_service: the webhook was removed.*metadata\.url/],
    [404, 'channel_not_found', /the channel is gone.*metadata\.url/],
    [410, 'channel_is_archived', /the channel is archived/],
    [403, 'action_prohibited', /administrator/],
    [410, '', /the webhook is gone.*metadata\.url/],
    [500, 'rollup_error', /500\. It is tried again/],
    [302, '', /not Slack, and redirects are not followed.*metadata\.url/],
    [200, '<html>Sign in</html>', /not Slack, which says ok.*metadata\.url/],
    [204, '', /not Slack/],
  ])('%s %s is a failure with its remedy', async (status, said, error) => {
    const result = await answering(status, said);
    expect(result).toMatchObject(failed(error));
    expect(JSON.stringify(result)).not.toContain('hunter2');
  });

  it('waits as long as Slack asks', async () => {
    expect(await answering(429, '', { 'retry-after': '30' })).toMatchObject({
      ...failed(/429: more came than it takes/),
      retryAfterMs: 30_000,
    });
  });

  it('an address that is not public is refused by the door, with what the operator can do', async () => {
    const result = await send(`https://169.254.169.254${path}`);
    expect(result).toMatchObject(failed(/egress-refused.*SVC_EGRESS_ALLOW/));
    expect(JSON.stringify(result)).not.toContain('hunter2');
  });
});
