import { GetObjectCommand, S3Client } from '@aws-sdk/client-s3';
import S3rver from '@20minutes/s3rver';
import account from '@20minutes/s3rver/lib/models/account.js';
import { mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Behaviour } from '../kind.testsuite.ts';

export const bucket = 'crm-records';
export const secrets = { awsKeyId: 'AKIAIOSFODNN7EXAMPLE', awsSecretKey: 'wJalrXUtnFEMI/K7MDENG/hunter2' };

/** An object as the store has it. */
export interface Kept {
  key: string;
  text: string;
  about: Record<string, string>;
  type: string | undefined;
}

/** A store that checks signatures, on a port of its own. */
export interface TestStore {
  url: string;
  port: number;
  /** The headers of each request. */
  asked: IncomingHttpHeaders[];
  /** In its place answers this, when set. */
  answer: ((response: ServerResponse) => void) | undefined;
  /** Asked for each request that changes something: whether it is refused, or done without an answer. */
  fault: (() => 'refuse' | 'lose' | undefined) | undefined;
  behave(how: Behaviour): Promise<void>;
  objects(): Promise<Kept[]>;
  close(): Promise<void>;
}

const slowDown = (response: ServerResponse): void => {
  response.writeHead(503).end('<Error><Code>SlowDown</Code><Message>Slow.</Message></Error>');
};

export async function startStore(): Promise<TestStore> {
  const directory = await mkdtemp(join(tmpdir(), 'svc-s3-'));
  const app = new S3rver({
    directory,
    silent: true,
    serviceEndpoint: 'test',
    configureBuckets: [{ name: bucket }],
  });
  // Its log would take the exceptions of the whole process.
  app.logger.exceptions.unhandle();
  await app.configureBuckets();
  account.DUMMY_ACCOUNT.createKeyPair(secrets.awsKeyId, secrets.awsSecretKey);
  const serve = app.callback();
  const store = { asked: [], answer: undefined, fault: undefined } as unknown as TestStore;
  let isGone = false;
  const server = createServer((request, response) => {
    store.asked.push(request.headers);
    const fault = request.method === 'PUT' ? store.fault?.() : undefined;
    const answer = fault === 'refuse' ? slowDown : store.answer;
    if (fault === 'lose') Object.assign(response, { end: () => request.socket.destroy() });
    if (answer) request.resume().on('end', () => answer(response));
    else serve(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  return Object.assign(store, {
    url,
    port,
    async behave(how: Behaviour) {
      store.answer = how === 'hangs' ? () => undefined : undefined;
      if (isGone === (how === 'refuses')) return;
      isGone = how === 'refuses';
      const [here, away] = [join(directory, bucket), join(directory, 'aside')];
      await (isGone ? rename(here, away) : rename(away, here));
    },
    objects: () => objectsIn(url, directory),
    async close() {
      app.logger.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await rm(directory, { recursive: true });
    },
  });
}

/** Of the file that holds an object's text. */
const ending = '._S3rver_object';

/** Looked up where the server keeps them: of more than a thousand it cannot make a list. */
async function objectsIn(endpoint: string, directory: string): Promise<Kept[]> {
  const { awsKeyId: accessKeyId, awsSecretKey: secretAccessKey } = secrets;
  const client = new S3Client({
    endpoint,
    forcePathStyle: true,
    region: 'us-east-1',
    credentials: { accessKeyId, secretAccessKey },
  });
  const files = await readdir(join(directory, bucket), { recursive: true });
  const keys = files.flatMap((file) => (file.endsWith(ending) ? [file.slice(0, -ending.length)] : []));
  const kept = await Promise.all(
    keys.map(async (key) => {
      const object = await client.send(new GetObjectCommand({ Bucket: bucket, Key: key }));
      const text = (await object.Body?.transformToString()) ?? '';
      return { key, text, about: object.Metadata ?? {}, type: object.ContentType };
    }),
  );
  client.destroy();
  return kept;
}
