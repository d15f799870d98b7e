import { request as overHttp, type IncomingMessage } from 'node:http';
import { request as overHttps } from 'node:https';
import type { Sent } from '../../../ui/client/src/index.ts';

/** As `fetch` does it, with less work for each call, for answers that are read whole. */
export async function send(url: string, { body, ...sent }: Sent): Promise<Response> {
  const { method, signal } = sent;
  const open = url.startsWith('https:') ? overHttps : overHttp;
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    const outgoing = open(url, { method, signal, headers: Object.fromEntries(sent.headers) });
    outgoing.once('response', resolve).once('error', reject);
    outgoing.end(typeof body === 'string' ? body : body && Buffer.from(body));
  });
  const headers = Object.entries(answer.headersDistinct).flatMap(([name, values = []]) =>
    values.map((value): [string, string] => [name, value]),
  );
  return new Response(await wholeOf(answer), { status: answer.statusCode ?? 0, headers });
}

/** Undefined where there is none: a 204 may have no body. */
async function wholeOf(answer: IncomingMessage): Promise<Buffer<ArrayBuffer> | undefined> {
  const chunks: Buffer[] = [];
  for await (const chunk of answer) chunks.push(chunk as Buffer);
  return chunks.length === 0 ? undefined : Buffer.concat(chunks);
}
