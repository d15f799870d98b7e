import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A delivery as it arrived. */
export interface Received<Body = DataMessage> {
  headers: IncomingHttpHeaders;
  text: string;
  body: Body;
}

/** A message of records, as far as tests read it. */
export interface DataMessage {
  action: string;
  groupRef: string;
  groupName: string;
  workspace?: string;
  installationId: string;
  objectName: string;
  rawObjectName: string;
  operationId: string;
  readType: string;
  resultInfo: { type: string; numRecords: number; downloadUrl?: string };
  result?: DataEntry[];
}

interface Association {
  id: string;
  objectName: string;
  rawObjectName: string;
  providerAssociationMetadata: { associationTypes: unknown[] };
}

export interface DataEntry {
  id?: string;
  deleted?: boolean;
  fields: Record<string, unknown>;
  mappedFields: Record<string, unknown>;
  associations?: Record<string, Association[]>;
  raw: { id: string; properties: Record<string, unknown> } & Record<string, unknown>;
}

/** A builder's endpoint: keeps what it gets and answers as it is told. */
export interface Receiver {
  url: string;
  received: Received[];
  /** The status of the next answers. */
  answer: number;
  /** The entries of all messages, for one object and kind of read. */
  entries(of?: { objectName?: string; readType?: string; groupRef?: string }): DataEntry[];
  close(): Promise<void>;
}

export async function startReceiver(): Promise<Receiver> {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString('utf8');
      received.push({ headers: request.headers, text, body: JSON.parse(text) as DataMessage });
      response.writeHead(receiver.answer).end();
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const receiver: Receiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/in`,
    received,
    answer: 204,
    entries: (of = {}) =>
      received
        .filter(({ body }) =>
          Object.entries(of).every(([name, value]) => body[name as keyof typeof of] === value),
        )
        .flatMap(({ body }) => body.result ?? []),
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
  return receiver;
}
