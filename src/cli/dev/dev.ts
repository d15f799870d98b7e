import { watch } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import { Svc, SvcError } from '../../../ui/client/src/index.ts';
import { warningsOf } from '../deploy.ts';
import { exitCodes, Failure } from '../failure.ts';
import { openReceiver } from '../listen.ts';
import { validManifest, type ManifestFile } from '../manifest-file.ts';
import { say, tell } from '../output.ts';
import { whyUnwritten } from '../plain.ts';
import { failureOf } from '../report.ts';
import { connectAccount, installAll, openDestinations, registerClient } from './customer.ts';
import { startLocal, type LocalPlatform } from './platform.ts';

interface DevOptions {
  port: number;
  receiverPort: number;
  dataDir: string;
  group: string;
  json?: boolean;
}

/** `svc dev`: all of it on this machine, until Ctrl+C. */
export async function dev(path: string, options: DevOptions): Promise<void> {
  const first = await validManifest(path);
  // They stay: a terminal may signal twice, through the process that started this one.
  const interrupted = new Promise<void>((ended) => {
    process.on('SIGINT', () => ended()).on('SIGTERM', () => ended());
  });
  await mkdir(options.dataDir, { recursive: true, mode: 0o755 }).catch((error: unknown) => {
    throw new Failure(
      `${options.dataDir} is no folder to keep data in: ${(error as NodeJS.ErrnoException).code === 'EEXIST' ? 'it is a file' : whyUnwritten(error)}.`,
      'Name another: --data-dir .svc/dev.',
      exitCodes.usage,
    );
  });
  const receiver = `http://127.0.0.1:${options.receiverPort}`;
  const { receiverPort: port, json = false } = options;
  const close = await openReceiver({ port, json }, { portOption: '--receiver-port' });
  tell('Starting the server, its database and the simulated providers …');
  try {
    const platform = await startLocal(options.dataDir, options.port, interrupted);
    if (!platform) return;
    try {
      const work = (file: ManifestFile & { manifest: Manifest }) =>
        bringUp(platform, file, receiver, options);
      const isUp = await Promise.race([work(first).then(() => true), interrupted, platform.ended]);
      if (!isUp) return;
      screen(platform, first, options);
      const end = watchFile(path, () => validManifest(path).then(work));
      await Promise.race([interrupted, platform.ended]).finally(end);
    } finally {
      await platform.stop();
    }
  } finally {
    close();
  }
}

type Manifest = NonNullable<ManifestFile['manifest']>;

/** Deploys the manifest, and has one customer connected and installed at each simulated provider that it names. */
async function bringUp(
  platform: LocalPlatform,
  file: ManifestFile & { manifest: Manifest },
  receiver: string,
  { group }: DevOptions,
): Promise<void> {
  const svc = new Svc({ baseUrl: platform.url, project: 'default', apiKey: platform.apiKey });
  const { manifest, text, path } = file;
  await openDestinations(svc, manifest, receiver);
  const deployed = await svc.integrations.deploy(text, { destructive: true });
  const warnings = deployed.flatMap((one) => one.warnings ?? []);
  tell([...warningsOf(file, warnings), `Deployed ${path}.`].join('\n'));
  for (const integration of manifest.integrations) {
    const { provider, name } = integration;
    if (platform.simulated[provider] === undefined) {
      tell(`${name}: there is no simulated ${provider}; register your own client: docs/guides.`);
      continue;
    }
    try {
      await registerClient(svc, platform, provider);
      await connectAccount(svc, provider, group);
      await installAll(svc, integration, group);
    } catch (error) {
      tell(`${name} is not installed for ${group}: ${wordsOf(error)}`);
    }
  }
}

function wordsOf(error: unknown): string {
  const failure = error instanceof SvcError ? failureOf(error) : error;
  if (failure instanceof Failure) return `${failure.message} ${failure.remedy}`;
  throw error;
}

/** Once a file is saved, however its editor does that. */
function watchFile(path: string, changed: () => Promise<void>): () => void {
  let waiting: NodeJS.Timeout | undefined;
  const watcher = watch(dirname(resolve(path)), (_event, name) => {
    if (name !== basename(path)) return;
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      changed().catch((error: unknown) =>
        tell(error instanceof Failure ? `${error.message}\nCorrect it and save it again.` : wordsOf(error)),
      );
    }, 200);
  });
  return () => {
    clearTimeout(waiting);
    watcher.close();
  };
}

/** A first record, by the names that the simulated providers have. */
function exampleOf(object: string): string {
  const examples: Readonly<Record<string, object>> = {
    contacts: { email: 'ada@example.com' },
    deals: { dealname: 'A first deal' },
    tickets: { subject: 'A first ticket', hs_pipeline_stage: '1' },
    contact: { LastName: 'Lovelace' },
    lead: { LastName: 'Lovelace', Company: 'Analytical Engines' },
    account: { Name: 'Analytical Engines' },
  };
  return JSON.stringify(examples[object.toLowerCase()] ?? { name: 'A first one' });
}

function screen(
  platform: LocalPlatform,
  { manifest, path }: ManifestFile & { manifest: Manifest },
  options: DevOptions,
): void {
  const { group } = options;
  const written = manifest.integrations.find(({ write }) => write);
  const object = written?.write?.objects[0]?.objectName;
  const { url, proxyUrl, apiKey, simulated } = platform;
  const lines = [
    '',
    `  server      ${url}   reference ${url}/docs/api`,
    `  proxy       ${proxyUrl}`,
    ...Object.entries(simulated).map(
      ([name, at]) => `  ${name.padEnd(10)}  ${at}   simulated; what is there, and its control`,
    ),
    `  receiver    http://127.0.0.1:${options.receiverPort}   deliveries are printed below`,
    '',
    'In another terminal:',
    `  export SVC_API_URL=${url} SVC_API_KEY=${apiKey} SVC_PROXY_URL=${proxyUrl}`,
    ...(written && object !== undefined
      ? [`  svc write ${written.name} ${object} --group ${group} --data '${exampleOf(object)}'`]
      : []),
    '  svc installations list',
    '  svc deliveries list',
    '',
    `Save ${path} to deploy it again. Ctrl+C stops everything; what was stored stays in ${options.dataDir}.`,
    '',
  ];
  if (options.json) say(options, { url, proxyUrl, apiKey, simulated, group }, '');
  else process.stdout.write(`${lines.join('\n')}\n`);
}
