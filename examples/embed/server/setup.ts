import { exportSPKI, generateKeyPair, SignJWT } from 'jose';
import { answerOf, type Svc } from '@svc/client';

/** What the application has of svc once it is set up. */
export interface Ready {
  /** A token with which the page of that person reaches svc, in that group only. */
  signToken(groupRef: string, consumerRef: string): Promise<string>;
  webhookSecret: string;
}

const destination = 'mailmonkey';
const lifeSeconds = 600;

/** Tells svc what it has to know of the application. It may be done again, as at each start. */
export async function setUp(svc: Svc, origin: string, manifest: string): Promise<Ready> {
  const webhookSecret = await receiveAt(svc, `${origin}/webhooks/svc`);
  await svc.integrations.deploy(manifest);
  await show(svc, origin);
  return { webhookSecret, signToken: await createSigner(svc) };
}

async function receiveAt(svc: Svc, url: string): Promise<string> {
  const path = { projectIdOrName: svc.project };
  const one = { ...path, destination };
  const known = await answerOf(
    svc.api.GET('/v1/projects/{projectIdOrName}/destinations', { params: { path } }),
  );
  const names = (Array.isArray(known) ? known : known.results).map(({ name }) => name);
  await (names.includes(destination)
    ? answerOf(
        svc.api.PATCH('/v1/projects/{projectIdOrName}/destinations/{destination}', {
          params: { path: one },
          body: { updateMask: ['metadata.url'], destination: { metadata: { url } } },
        }),
      )
    : answerOf(
        svc.api.POST('/v1/projects/{projectIdOrName}/destinations', {
          params: { path },
          body: { name: destination, type: 'webhook', metadata: { url } },
        }),
      ));
  const made = await answerOf(
    svc.api.GET('/v1/projects/{projectIdOrName}/destinations/{destination}', {
      params: { path: one, query: { includeSecrets: true } },
    }),
  );
  if (!made.secrets || !('webhookSigningKey' in made.secrets))
    throw new Error(`the destination ${destination} is no webhook`);
  return made.secrets.webhookSigningKey;
}

/** The name and colours of the pages of svc that a customer sees, and whose pages may call it. */
async function show(svc: Svc, origin: string): Promise<void> {
  await answerOf(
    svc.api.PATCH('/v1/projects/{projectIdOrName}', {
      params: { path: { projectIdOrName: svc.project } },
      body: {
        updateMask: ['appName', 'branding', 'allowedOrigins'],
        project: {
          appName: 'Mailmonkey',
          branding: { accentColor: '#a4340b', accentColorDark: '#ffb59b' },
          allowedOrigins: [origin],
        },
      },
    }),
  );
}

/** A key of this process: svc gets its public half. */
async function createSigner(svc: Svc): Promise<Ready['signToken']> {
  const { publicKey, privateKey } = await generateKeyPair('RS256');
  const { kid } = await answerOf(
    svc.api.POST('/v1/projects/{projectIdOrName}/jwt-keys', {
      params: { path: { projectIdOrName: svc.project } },
      body: {
        label: 'mailmonkey',
        algorithm: 'RS256',
        publicKeyPem: await exportSPKI(publicKey),
        expiresAt: new Date(Date.now() + 24 * 3_600_000).toISOString(),
      },
    }),
  );
  return (groupRef, consumerRef) =>
    new SignJWT({ groupRef, consumerRef })
      .setProtectedHeader({ alg: 'RS256', kid })
      .setIssuedAt()
      .setExpirationTime(Math.floor(Date.now() / 1_000) + lifeSeconds)
      .sign(privateKey);
}
