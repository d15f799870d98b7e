import type { Issue } from '../../kit/problem.ts';
import type { CheckContext } from '../kind.ts';
import { literalOf, namesIn, templateFault } from '../template.ts';
import { unlessNamed } from '../unless-named.ts';
import type { S3Metadata } from './schema.ts';

/** What the shape cannot say. */
export function checkS3(metadata: S3Metadata, context: CheckContext): Issue[] {
  const { bucket, pathStyle = false, keyTemplate, endpointUrl } = metadata;
  return [
    issueOf('metadata.bucket', bucketFault(bucket, pathStyle)),
    issueOf('metadata.keyTemplate', keyTemplate === undefined ? undefined : keyFault(keyTemplate)),
    issueOf('metadata.endpointUrl', endpointUrl === undefined ? undefined : urlFault(endpointUrl, context)),
  ].flat();
}

function issueOf(name: string, detail: string | undefined): Issue[] {
  return detail === undefined ? [] : [{ in: 'body', name, detail }];
}

function bucketFault(bucket: string, pathStyle: boolean): string | undefined {
  if (/^[a-z0-9]([a-z0-9-]{1,61})[a-z0-9]$/.test(bucket)) return undefined;
  if (!pathStyle && /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(bucket))
    return 'has a dot, which no certificate covers in the name of a host: set metadata.pathStyle, or name another bucket';
  if (pathStyle && /^[A-Za-z0-9][\w.-]{1,253}[A-Za-z0-9]$/.test(bucket) && !bucket.includes('..'))
    return undefined;
  return 'must be the name of a bucket: 3 to 63 lower-case letters, digits and dashes';
}

function keyFault(template: string): string | undefined {
  const fault = templateFault(template);
  if (fault !== undefined) return fault;
  if (!namesIn(template).includes('id'))
    return 'must name {{id}}: without it one message would take the place of another';
  const parts = literalOf(template, 'x').split('/');
  if (parts.includes('')) return 'must not begin or end with a slash, nor have two in a row';
  if (parts.some((part) => part.startsWith('.')))
    return 'has a part that begins with a dot, such as ..: begin it with something else';
  return undefined;
}

function urlFault(text: string, { production, isAllowed }: CheckContext): string | undefined {
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol)) return 'must be a URL such as https://minio.example.com';
  if (url.username !== '' || url.password !== '')
    return 'must hold no user and no password: put them into secrets.awsKeyId and secrets.awsSecretKey';
  if (url.search !== '' || url.hash !== '') return 'must have no part behind ? or #: leave it out';
  const host = url.hostname.replaceAll(/[[\]]/g, '');
  const port = Number(url.port || 80);
  if (url.protocol === 'http:' && production && !isAllowed(host, port))
    return `must begin with https://, ${unlessNamed(host, port)}`;
  return undefined;
}
