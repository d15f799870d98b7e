import { request as overHttp, type IncomingMessage } from 'node:http';
import { request as overHttps } from 'node:https';
import type { Received, Sent } from '../../../ui/client/src/index.ts';

/** As `fetch` does it, with less work for each call, for answers that are read whole. */
export function send(url: string, { method, headers, body, signal }: Sent): Promise<Received> {
  const open = url.startsWith('https:') ? overHttps : overHttp;
  return new Promise((resolve, reject) => {
    const outgoing = open(url, { method, headers: Object.fromEntries(headers) }, (answer) => {
      const chunks: Buffer[] = [];
      answer
        .on('data', (chunk: Buffer) => chunks.push(chunk))
        .once('end', () => resolve(receivedOf(answer, Buffer.concat(chunks).toString())))
        .once('error', reject);
    });
    // What `http.request` does with a signal costs as much as half of the call.
    const abort = (): void => void outgoing.destroy(signal.reason as Error);
    signal.addEventListener('abort', abort, { once: true });
    outgoing.once('error', reject).once('close', () => {
      signal.removeEventListener('abort', abort);
      reject(new Error('the connection was closed before the answer was whole'));
    });
    if (signal.aborted) abort();
    outgoing.end(typeof body === 'string' ? body : body && Buffer.from(body));
  });
}

function receivedOf(answer: IncomingMessage, text: string): Received {
  const { statusCode: status = 0 } = answer;
  const headers = Object.entries(answer.headersDistinct).flatMap(([name, values = []]) =>
    values.map((value): [string, string] => [name, value]),
  );
  return {
    status,
    ok: status >= 200 && status < 300,
    headers: new Headers(headers),
    body: null,
    url: '',
    text: () => Promise.resolve(text),
  };
}
