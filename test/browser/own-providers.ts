import { generateKeyPairSync, verify } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

const withToken = `pkce: false, scopeSeparator: " ", explicitScopesRequired: false, explicitWorkspaceRequired: false,
  tokenClientAuth: body, tokenMetadataFields: {}`;

/** A provider for each kind of credentials that is typed. */
const providers: Readonly<Record<string, string>> = {
  keyed: `displayName: Keyed
authType: apiKey
apiKeyOpts: { attachmentType: header, header: { name: X-Key }, docsURL: https://keyed.example/keys }`,
  pairs: `displayName: Pairs
authType: basic
basicOpts: {}`,
  machines: `displayName: Machines
authType: oauth2
oauth2Opts: { grantType: clientCredentials, tokenURL: "https://api.machines.example/token", ${withToken} }`,
  olden: `displayName: Olden
authType: oauth2
metadata:
  input:
    - { name: region, displayName: Region, prompt: Where your account lives., defaultValue: eu, docsURL: https://olden.example/region }
oauth2Opts: { grantType: password, tokenURL: "https://api.olden.example/token", ${withToken} }`,
  custom: `displayName: Custom
authType: custom
customOpts:
  headers:
    - { name: X-Account, valueTemplate: "{{account}}" }
    - { name: X-Place, valueTemplate: "{{place}}" }
    - { name: X-Secret, valueTemplate: "{{secret}}" }
  inputs:
    - { name: account, displayName: Account, prompt: Stands at the top of each page., fieldType: fieldTypeText }
    - { name: place, displayName: Place, fieldType: fieldTypeSelect, options: [Europe, Asia] }
    - { name: secret, displayName: Secret, fieldType: fieldTypePassword, docsURL: https://custom.example/secret }`,
};

export async function writeProviders(folder: string): Promise<void> {
  for (const [name, text] of Object.entries(providers)) {
    const place = `https://api.${name}.example`;
    const file = `name: ${name}
${text}
baseURL: ${place}
docsURL: https://${name}.example/docs
authHealthCheck: { url: ${place}/me, method: GET, successStatusCodes: [200] }
`;
    await writeFile(join(folder, `${name}.yaml`), file);
  }
}

export interface OwnProviders {
  /** Where each of them is, and Salesforce for apps that sign. */
  origins: Record<string, string>;
  /** Of the app that signs, as PEM. */
  privateKey: string;
  close(): Promise<void>;
}

/** Salesforce takes no assertion that holds longer. */
const mostAssertedSeconds = 300;

/** One server for all of them, which takes the right credentials and refuses any other. */
export async function startOwnProviders(): Promise<OwnProviders> {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const signs = (assertion: string): boolean => {
    const [head, body, signature = ''] = assertion.split('.');
    const signed = Buffer.from(`${head}.${body}`);
    if (!verify('RSA-SHA256', signed, publicKey, Buffer.from(signature, 'base64url'))) return false;
    const claims = JSON.parse(Buffer.from(body ?? '', 'base64url').toString()) as Record<string, unknown>;
    const lifeSeconds = Number(claims['exp']) - Date.now() / 1_000;
    return (
      claims['iss'] === 'ours' &&
      claims['sub'] === 'ada@acme.example' &&
      claims['aud'] === 'https://login.salesforce.com' &&
      lifeSeconds > 0 &&
      lifeSeconds <= mostAssertedSeconds
    );
  };
  const grants: Readonly<Record<string, (form: URLSearchParams) => boolean>> = {
    client_credentials: (form) => form.get('client_id') === 'ours' && form.get('client_secret') === 'right',
    password: (form) =>
      form.get('username') === 'ada' &&
      form.get('password') === 'right' &&
      form.get('client_secret') === 'right',
    'urn:ietf:params:oauth:grant-type:jwt-bearer': (form) => signs(form.get('assertion') ?? ''),
  };
  const token = async (request: IncomingMessage): Promise<[status: number, body: object]> => {
    const form = new URLSearchParams(Buffer.concat(await request.toArray()).toString());
    const isRight = grants[form.get('grant_type') ?? '']?.(form) ?? false;
    if (!isRight)
      return [400, { error: 'invalid_grant', error_description: 'These are not the right ones.' }];
    return [200, { access_token: 'right', token_type: 'Bearer', expires_in: 3_600 }];
  };
  const basic = `Basic ${Buffer.from('ada:right').toString('base64')}`;
  const knows = ({ headers }: IncomingMessage): boolean =>
    headers['x-key'] === 'right' ||
    [basic, 'Bearer right'].includes(headers.authorization ?? '') ||
    (headers['x-account'] === 'acme' && headers['x-place'] === 'Asia' && headers['x-secret'] === 'right');
  const server = createServer((request, response) => {
    const answered = request.url?.endsWith('/token')
      ? token(request)
      : Promise.resolve<[number, object]>([knows(request) ? 200 : 401, {}]);
    void answered.then(([status, body]) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body)),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    origins: Object.fromEntries([...Object.keys(providers), 'salesforceJWT'].map((name) => [name, url])),
    privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
