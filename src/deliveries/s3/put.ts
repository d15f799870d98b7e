import type { S3Client, S3ClientConfig } from '@aws-sdk/client-s3';
import { sendHttp, type HttpRequest, type HttpResult } from '../../kit/http/client.ts';
import type { DeliveryContext } from '../kind.ts';
import type { S3Metadata, S3Secrets } from './schema.ts';

/** An object to be kept. */
export interface NewObject {
  key: string;
  body: Buffer;
  /** Told beside it; ASCII. */
  about: Record<string, string>;
}

export interface Store {
  metadata: S3Metadata;
  secrets: S3Secrets;
}

/** What the store answered, and its error as the SDK reads it. */
export interface Put {
  result: HttpResult;
  error?: { name: string; message: string };
}

type Handler = Extract<S3ClientConfig['requestHandler'], { handle: unknown }>;
type Sent = Parameters<Handler['handle']>[0];
type HttpHandlerOptions = Parameters<S3Client['send']>[1] & object;

interface Call {
  context: DeliveryContext;
  timeoutMs: number;
  result?: HttpResult;
}

const answerBytes = 16_384;
const restMs = 1_000;

/** Loaded at the first delivery: it takes a third of a second, and memory that others need not pay for. */
const sdk = () => import('@aws-sdk/client-s3');

/** Making one costs as much as a delivery. A destination is read anew every two seconds, so none lives for long. */
const clients = new WeakMap<S3Metadata, { secrets: S3Secrets; client: S3Client }>();

/** Puts an object, once. The SDK signs the request and reads the answer; the door sends it. */
export async function putObject(
  store: Store,
  { key, body, about }: NewObject,
  context: DeliveryContext,
  timeoutMs: number,
): Promise<Put> {
  const { PutObjectCommand } = await sdk();
  const client = await clientOf(store);
  const { bucket, storageClass } = store.metadata;
  const command = new PutObjectCommand({
    Bucket: bucket,
    Key: key,
    Body: body,
    ContentType: 'application/json',
    Metadata: about,
    ...(storageClass === undefined ? {} : { StorageClass: storageClass as 'STANDARD' }),
  });
  const call: Call = { context, timeoutMs };
  try {
    await client.send(command, { call } as HttpHandlerOptions);
    if (!call.result) throw new Error('the SDK sent nothing');
    return { result: call.result };
  } catch (error) {
    if (!call.result) throw error;
    const { name, message } = error as Error;
    return { result: call.result, error: { name, message } };
  }
}

async function clientOf(store: Store): Promise<S3Client> {
  const { metadata, secrets } = store;
  const known = clients.get(metadata);
  if (known?.secrets === secrets) return known.client;
  const { S3Client } = await sdk();
  const client = new S3Client({ ...settingsOf(store), requestHandler });
  clients.set(metadata, { secrets, client });
  return client;
}

const requestHandler = {
  metadata: { handlerProtocol: 'http/1.1' },
  async handle(sent: Sent, { call }: { call: Call }) {
    const { context, timeoutMs } = call;
    call.result = await sendHttp(context.ground.egress, requestOf(sent), {
      timeoutMs,
      signal: context.signal,
      maySend: context.mayStillSend,
      beginning: { bytes: answerBytes, withinMs: restMs },
    });
    if ('fault' in call.result) throw new Error(call.result.fault.message);
    const { status, headers, body } = call.result.answer;
    return { response: { statusCode: status, headers, body: Buffer.from(body) } };
  },
} as unknown as Handler;

/** Where the store is. */
export function endpointOf({ endpointUrl, region }: S3Metadata): string {
  if (endpointUrl !== undefined) return endpointUrl;
  const domain = region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com';
  return `https://s3.${region}.${domain}`;
}

/** Everything is told: what is not, the SDK takes from the environment and the files of the machine, which hold credentials. */
function settingsOf({ metadata, secrets }: Store): S3ClientConfig {
  const { awsKeyId, awsSecretKey, awsSessionToken } = secrets;
  return {
    endpoint: endpointOf(metadata),
    region: metadata.region,
    forcePathStyle: metadata.pathStyle ?? false,
    credentials: {
      accessKeyId: awsKeyId,
      secretAccessKey: awsSecretKey,
      ...(awsSessionToken === undefined ? {} : { sessionToken: awsSessionToken }),
    },
    // The lanes try again. The body is signed, so a checksum beside it is not needed, and not every store knows it.
    maxAttempts: 1,
    retryMode: 'standard',
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    defaultsMode: 'standard',
    authSchemePreference: ['sigv4'],
    sigv4aSigningRegionSet: [metadata.region],
    disableClockSkewCorrection: true,
    disableS3ExpressSessionAuth: true,
    useArnRegion: false,
    useDualstackEndpoint: false,
    useFipsEndpoint: false,
    userAgentAppId: 'svc',
  };
}

/** A header of the connection belongs to the connection. */
function requestOf({ method, protocol, hostname, port, path, query, headers, body }: Sent): HttpRequest {
  const { expect: _expect, host: _host, 'content-length': _length, ...own } = headers;
  const asked = new URLSearchParams(query as Record<string, string>).toString();
  const host = port === undefined ? hostname : `${hostname}:${port}`;
  return {
    method: method as 'PUT',
    url: `${protocol}//${host}${path}${asked === '' ? '' : `?${asked}`}`,
    headers: own,
    body: body as Buffer,
  };
}
