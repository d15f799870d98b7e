import { request } from 'node:http';

/** An answer as it arrived: nothing decoded, nothing followed. */
export interface RawAnswer {
  status: number;
  statusText: string;
  rawHeaders: string[];
  headers: Record<string, string | undefined>;
  body: Buffer;
}

export interface RawCall {
  method?: string;
  /** Sent in the request line as it stands. */
  target: string;
  headers?: Record<string, string | string[]>;
  body?: Buffer | string;
  /** Sends the body in these parts, chunked. */
  chunks?: (Buffer | string)[];
}

/** One HTTP call without any help of a client library. */
export function rawCall(origin: string, call: RawCall): Promise<RawAnswer> {
  const { hostname, port } = new URL(origin);
  // Node frames no body of a DELETE or an OPTIONS by itself.
  const length = call.body === undefined ? {} : { 'content-length': String(Buffer.byteLength(call.body)) };
  const headers = { ...length, ...call.headers };
  return new Promise((resolve, reject) => {
    const outgoing = request(
      {
        hostname,
        port,
        method: call.method ?? 'GET',
        path: call.target,
        headers,
        agent: false,
      },
      (incoming) => {
        const chunks: Buffer[] = [];
        incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
        incoming.on('error', reject);
        incoming.on('end', () =>
          resolve({
            status: incoming.statusCode ?? 0,
            statusText: incoming.statusMessage ?? '',
            rawHeaders: incoming.rawHeaders,
            headers: incoming.headers as Record<string, string | undefined>,
            body: Buffer.concat(chunks),
          }),
        );
      },
    );
    outgoing.on('error', reject);
    for (const chunk of call.chunks ?? []) outgoing.write(chunk);
    outgoing.end(call.body);
  });
}
