import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { Agent, type Dispatcher } from 'undici';

export interface TinyProvider {
  origin: string;
  /** A way there that counts. */
  egress: Dispatcher;
  /** The most chunks that were taken in one turn of the event loop. */
  mostInTurn(): number;
  close(): Promise<void>;
}

/** Answers every call with so many chunks of one byte, all at once. */
export async function startTinyProvider(count: number, status = '200 OK'): Promise<TinyProvider> {
  const body = '1\r\nx\r\n'.repeat(count);
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () =>
      socket.end(`HTTP/1.1 ${status}\r\ntransfer-encoding: chunked\r\n\r\n${body}0\r\n\r\n`),
    );
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const agent = new Agent();
  let [most, inTurn] = [0, 0];
  const take = (): void => {
    if (inTurn === 0) setImmediate(() => (inTurn = 0));
    inTurn += 1;
    most = Math.max(most, inTurn);
  };
  const counting: Dispatcher.DispatcherComposeInterceptor = (dispatch) => (options, handler) =>
    dispatch(options, {
      onRequestStart: (...given) => handler.onRequestStart?.(...given),
      onResponseStart: (...given) => handler.onResponseStart?.(...given),
      onResponseData(...given) {
        take();
        handler.onResponseData?.(...given);
      },
      onResponseEnd: (...given) => handler.onResponseEnd?.(...given),
      onResponseError: (...given) => handler.onResponseError?.(...given),
    });
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    egress: agent.compose(counting),
    mostInTurn: () => most,
    async close() {
      await agent.destroy();
      server.close();
    },
  };
}
