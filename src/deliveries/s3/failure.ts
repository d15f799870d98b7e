import { unanswered, refusedBy } from '../http-outcome.ts';
import type { Delivered } from '../kind.ts';
import { hideSecrets } from '../secrets.ts';
import { endpointOf, type Put, type Store } from './put.ts';

const longestMessage = 500;

/** What became of an object. */
export function outcomeOf({ result, error }: Put, store: Store, timeoutMs: number): Delivered {
  const hide = (text: string) => hideSecrets(text, Object.values(store.secrets));
  const where = new URL(endpointOf(store.metadata)).host;
  if ('fault' in result)
    return unanswered(result.fault, { who: `The store at ${where}`, timeoutMs, slow: 'It is tried again.' });
  const { status, headers } = result.answer;
  const code = error?.name ?? '';
  const said = hide(error ? `${code}: ${error.message.slice(0, longestMessage)}` : '');
  if (status >= 200 && status < 300 && headers['etag'] !== undefined)
    return { kind: 'delivered', status, answer: '' };
  // The answer itself is not kept: it repeats the request with the token of the session.
  const answer = { ...result.answer, body: said };
  return refusedBy(answer, hide(`${sentenceOf(status, code, { store, said, where })}.`));
}

interface About {
  store: Store;
  said: string;
  where: string;
}

const remedies: Record<string, (about: About) => string> = {
  NoSuchBucket: ({ store: { metadata } }) =>
    `There is no bucket ${JSON.stringify(metadata.bucket)}: make it, or name another one in metadata.bucket`,
  AccessDenied: ({ store: { metadata } }) =>
    `The access key may not write to the bucket ${JSON.stringify(metadata.bucket)}: grant it s3:PutObject on its objects`,
  InvalidAccessKeyId: () => 'The store does not know the access key: change secrets.awsKeyId',
  SignatureDoesNotMatch: () =>
    'The store refuses the signature: change secrets.awsSecretKey to the one that belongs to secrets.awsKeyId',
  ExpiredToken: () => 'The temporary access key has expired: change secrets.awsSessionToken and both keys',
  InvalidToken: () =>
    'The store refuses secrets.awsSessionToken: change it, or leave it out for lasting keys',
  RequestTimeTooSkewed: () =>
    'The clock of this service and that of the store differ: the operator has to set the clock',
  InvalidStorageClass: ({ store: { metadata } }) =>
    `The store has no storage class ${JSON.stringify(metadata.storageClass)}: change metadata.storageClass`,
  KeyTooLongError: () => 'The key is too long: shorten metadata.keyTemplate',
  SlowDown: () => 'The store asks to slow down: it is tried again',
};

const wrongRegion = ({ store: { metadata }, said }: About): string =>
  `The bucket ${JSON.stringify(metadata.bucket)} is not in the region ${metadata.region} (${said}): change metadata.region, and metadata.endpointUrl where it names a region`;
for (const code of [
  'PermanentRedirect',
  'TemporaryRedirect',
  'AuthorizationHeaderMalformed',
  'IllegalLocationConstraintException',
  'InvalidRegion',
])
  remedies[code] = wrongRegion;

function sentenceOf(status: number, code: string, about: About): string {
  const remedy = Object.hasOwn(remedies, code) ? remedies[code] : undefined;
  if (remedy) return remedy(about);
  if (status >= 300 && status < 400)
    return `The store at ${about.where} answered ${status}, and redirects are not followed: change metadata.region or metadata.endpointUrl`;
  if (status >= 200 && status < 300)
    return `What answered at ${about.where} is no S3 store: metadata.endpointUrl must lead to one`;
  if (status === 401 || status === 403)
    return `The store at ${about.where} refused the access key with ${status}${inWords(about.said)}: grant it s3:PutObject, or change the secrets`;
  return `The store at ${about.where} answered ${status}${inWords(about.said)}`;
}

function inWords(said: string): string {
  return said === '' || said.startsWith('Unknown') ? '' : ` (${said})`;
}
