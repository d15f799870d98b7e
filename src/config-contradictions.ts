import { oidcContradictions, type OidcValues } from './people/index.ts';

/** What variables say to one another. */
interface Related extends OidcValues {
  databaseUrl: string | undefined;
  databaseDirectUrl: string | undefined;
  encryptionKeys: unknown;
  port: number;
  proxyPort: number;
  healthPort: number | undefined;
}

/** The faults of variables that are sound each by itself. */
export function contradictions(given: Related): string[] {
  const { databaseUrl, databaseDirectUrl, encryptionKeys } = given;
  const production = databaseUrl !== undefined;
  return [
    ...(production && encryptionKeys === undefined
      ? [
          'SVC_ENCRYPTION_KEYS is required when DATABASE_URL is set; for example SVC_ENCRYPTION_KEYS=k1:$(openssl rand -base64 32)',
        ]
      : []),
    ...(!production && databaseDirectUrl !== undefined
      ? ['SVC_DATABASE_DIRECT_URL belongs to DATABASE_URL, which is not set']
      : []),
    ...sharedPorts(given),
    ...oidcContradictions(given),
  ];
}

function sharedPorts({ port, proxyPort, healthPort }: Related): string[] {
  const ports = Object.entries({ SVC_PORT: port, SVC_PROXY_PORT: proxyPort, SVC_HEALTH_PORT: healthPort });
  return ports.flatMap(([name, number], index) => {
    // Zero takes a free one each time.
    const [other] = ports.slice(0, index).find(([, before]) => before === number && number) ?? [];
    return other === undefined
      ? []
      : [`${name} and ${other} are both ${number}; each needs a port of its own`];
  });
}
