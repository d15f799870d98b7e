import { Agent, request as overHttp, type IncomingMessage } from 'node:http';
import { Agent as SecureAgent, request as overHttps } from 'node:https';
import type { Call } from '../../../ui/client/src/index.ts';

/** Sends calls over connections that stay open, by a third of the work of `fetch`. */
export function sender(atOnce: number): { send: (call: Call) => Promise<Response>; close: () => void } {
  const options = { keepAlive: true, maxSockets: atOnce };
  const [agent, secure] = [new Agent(options), new SecureAgent(options)];
  return {
    send: async ({ url, method, headers, body, signal }) => {
      const isSecure = url.startsWith('https:');
      const given = { method, headers: Object.fromEntries(headers), signal };
      const answer = await new Promise<IncomingMessage>((resolve, reject) => {
        const outgoing = isSecure
          ? overHttps(url, { ...given, agent: secure })
          : overHttp(url, { ...given, agent });
        outgoing.once('response', resolve).once('error', reject);
        outgoing.end(body && Buffer.from(body));
      });
      return new Response(await wholeOf(answer), {
        status: answer.statusCode ?? 0,
        headers: Object.entries(answer.headersDistinct).flatMap(([name, values = []]) =>
          values.map((value): [string, string] => [name, value]),
        ),
      });
    },
    close: () => {
      agent.destroy();
      secure.destroy();
    },
  };
}

/** Undefined where there is none: a 204 may have no body. */
async function wholeOf(answer: IncomingMessage): Promise<Buffer<ArrayBuffer> | undefined> {
  const chunks: Buffer[] = [];
  for await (const chunk of answer) chunks.push(chunk as Buffer);
  return chunks.length === 0 ? undefined : Buffer.concat(chunks);
}
