import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A span as it arrived. */
export interface CollectedSpan {
  traceId: string;
  spanId: string;
  parentSpanId: string;
  name: string;
  kind: number;
  attributes: Record<string, string | number>;
  /** Of the process that sent it. */
  resource: Record<string, string | number>;
}

export interface Collector {
  url: string;
  spans: CollectedSpan[];
  /** All bytes that arrived, as Latin-1, to look for what must not be there. */
  bytes: string;
  close(): Promise<void>;
}

/** An OTLP/HTTP collector that reads protobuf by the numbers of `opentelemetry/proto/trace/v1/trace.proto`. */
export async function startCollector(port = 0): Promise<Collector> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks);
      collector.bytes += body.toString('latin1');
      if (request.url === '/v1/traces') collector.spans.push(...spansOf(body));
      response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const collector: Collector = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans: [],
    bytes: '',
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return collector;
}

type Field = { number: number; value: bigint | Buffer };

function spansOf(request: Buffer): CollectedSpan[] {
  return of(request, 1).flatMap((resourceSpans) => {
    const resource = Object.fromEntries(of(resourceSpans, 1).flatMap((one) => attributesOf(one, 1)));
    const scoped = of(resourceSpans, 2).flatMap((scopeSpans) => of(scopeSpans, 2));
    return scoped.map((span) => spanOf(span, resource));
  });
}

function spanOf(span: Buffer, resource: CollectedSpan['resource']): CollectedSpan {
  const bytes = (number: number): Buffer => of(span, number)[0] ?? Buffer.alloc(0);
  return {
    traceId: bytes(1).toString('hex'),
    spanId: bytes(2).toString('hex'),
    parentSpanId: bytes(4).toString('hex'),
    name: bytes(5).toString(),
    kind: Number(fieldsOf(span).find(({ number }) => number === 6)?.value ?? 0),
    attributes: Object.fromEntries(attributesOf(span, 9)),
    resource,
  };
}

function attributesOf(message: Buffer, number: number): [string, string | number][] {
  return of(message, number).map((pair) => [of(pair, 1)[0]?.toString() ?? '', valueOf(of(pair, 2)[0])]);
}

/** AnyValue: 1 is text, 3 an integer. */
function valueOf(any: Buffer = Buffer.alloc(0)): string | number {
  const [field] = fieldsOf(any);
  return Buffer.isBuffer(field?.value) ? field.value.toString() : Number(field?.value ?? 0);
}

/** Each value of a member that is a message, a text or bytes. */
function of(message: Buffer, number: number): Buffer[] {
  return fieldsOf(message).flatMap((field) =>
    field.number === number && Buffer.isBuffer(field.value) ? [field.value] : [],
  );
}

/** The wire format of protobuf: varints, eight bytes, bytes with a length, four bytes. */
function fieldsOf(message: Buffer): Field[] {
  const fields: Field[] = [];
  let at = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = message[at++] ?? 0;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  const take = (length: number): Buffer => message.subarray(at, (at += length));
  while (at < message.length) {
    const key = Number(varint());
    const wire = key & 7;
    const value = wire === 0 ? varint() : take(wire === 1 ? 8 : wire === 5 ? 4 : Number(varint()));
    fields.push({ number: key >> 3, value });
  }
  return fields;
}
