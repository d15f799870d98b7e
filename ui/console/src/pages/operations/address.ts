import type { Connection, OperationExchange, ProviderInfo } from '@svc/client';
import { bearer, type CredentialHeader } from '../../data/curl.ts';

/** Where requests go, and how the credential is sent with them. */
export interface Address {
  base: string;
  credential: CredentialHeader;
}

/** Of what is not known, the name stays as a variable: an installation may be gone. */
export function addressOf(connection: Connection | undefined, provider: ProviderInfo | undefined): Address {
  const known = connection?.providerMetadata ?? {};
  const base = (provider?.baseURL ?? '{{base_url}}').replaceAll(
    /\{\{(\w+)\}\}/g,
    (template, name: string) => known[name]?.value ?? template,
  );
  const { header } = provider?.apiKeyOpts ?? {};
  const isKey = connection?.authScheme === 'apiKey' && header !== undefined;
  return {
    base,
    credential: isKey ? { name: header.name, prefix: header.valuePrefix ?? '' } : bearer,
  };
}

const encoder = new TextEncoder();

/** Whether all that was sent is kept: of a long body the beginning is. */
export const isWhole = ({ body = '', bytes }: OperationExchange['request']): boolean =>
  encoder.encode(body).length === bytes;
