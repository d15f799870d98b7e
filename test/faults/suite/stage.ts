import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { openDatabase, type Database } from '../../../src/kit/db/database.ts';
import { generateApiKey } from '../../../src/projects/keys/key-form.ts';
import { certificate } from '../../certificate.ts';
import { deploy, install, simulator, type Customer } from '../../customer.ts';
import { startForwarder, type Forwarder } from '../../forwarder.ts';
import { startTlsFront } from '../../tls-front.ts';
import type { NodeProcess } from './node-process.ts';
import { createNodes, openServer, platformAt, repository, startSimulator } from './processes.ts';
import { groups, type Settings } from './settings.ts';
import { seededRecords, type Seeded } from './workload.ts';

/**
 * The processes of a run: a database server, two simulators and two nodes. The nodes reach
 * one of the providers by TLS.
 */
export interface Stage {
  folder: string;
  database: Database;
  hubspot: string;
  salesforce: string;
  nodes: NodeProcess[];
  /** Each node's way to the database. */
  wires: Forwarder[];
  apiKey: string;
  projectId: string;
  seeded: Seeded;
  crashDatabase?: () => Promise<unknown>;
  /** The steps that end everything; the last one that was added is done first. */
  closing: (() => Promise<unknown>)[];
  close(): Promise<void>;
}

/** Nothing is read until a config asks for it. */
const manifest = `specVersion: 1.0.0
integrations:
  - name: hubspot-crm
    provider: hubspot
    read:
      objects: [{ objectName: contacts, destination: hook, schedule: '*/10 * * * *', requiredFields: [{ fieldName: email }] }]
    write: { objects: [{ objectName: contacts }, { objectName: companies }] }
    proxy: { enabled: true }
  - name: salesforce-crm
    provider: salesforce
    write:
      objects: [{ objectName: Contact }, { objectName: Account }, { objectName: Lead }, { objectName: UpsertTable__c }]
    proxy: { enabled: true }
`;

/** `sources` is a checkout whose nodes run: this one, or a copy that is wrong on purpose. */
export async function openStage(
  settings: Settings,
  sources = repository,
  onOpen?: (close: () => Promise<void>) => void,
): Promise<Stage> {
  const closing: (() => Promise<unknown>)[] = [];
  const close = async (): Promise<void> => {
    for (const step of closing.toReversed()) await step().catch(() => undefined);
  };
  onOpen?.(close);
  try {
    const folder = await mkdtemp(join(tmpdir(), 'svc-faults-'));
    closing.push(() => rm(folder, { recursive: true, force: true }));
    // As root the embedded database runs as another user, who must get there.
    await chmod(folder, 0o755);
    const server = await openServer(folder, closing);
    const [hubspot, salesforce] = await Promise.all([
      startSimulator('hubspot', settings, closing),
      startSimulator('salesforce', settings, closing),
    ]);
    const front = await startTlsFront(hubspot);
    closing.push(() => front.close());
    const authorities = join(folder, 'authorities.pem');
    await writeFile(authorities, certificate.cert);
    // This process connects accounts, so it calls that provider by TLS, too.
    setDefaultCACertificates([...getCACertificates(), certificate.cert]);
    const apiKey = generateApiKey().key;
    const wires = await Promise.all([startForwarder(server.url), startForwarder(server.url)]);
    closing.push(() => Promise.all(wires.map((wire) => wire.close())));
    const urls = wires.map(({ url }) => url);
    const nodes = await createNodes(settings, sources, folder, {
      urls,
      apiKey,
      authorities,
      origins: { hubspot: front.url, salesforce },
    });
    closing.push(async () => {
      for (const node of nodes) node.signal('SIGKILL');
      await Promise.allSettled(nodes.map((node) => node.gone));
    });
    const database = openDatabase({ url: server.url, poolSize: 4, applicationName: 'svc fault suite' });
    closing.push(() => database.close());
    const { projectId, seeded } = await prepare(settings, nodes, { hubspot, salesforce, apiKey });
    const { crashDatabase } = server;
    return {
      folder,
      database,
      hubspot,
      salesforce,
      nodes,
      wires,
      apiKey,
      projectId,
      seeded,
      ...(crashDatabase ? { crashDatabase } : {}),
      closing,
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

interface Around {
  hubspot: string;
  salesforce: string;
  apiKey: string;
}

interface Furnished {
  projectId: string;
  seeded: Seeded;
  /** Of HubSpot, one for each group. */
  customers: Customer[];
}

async function prepare(settings: Settings, nodes: NodeProcess[], around: Around): Promise<Furnished> {
  const [first, ...others] = nodes;
  if (!first) throw new Error('there are no nodes');
  first.start();
  await first.ready();
  for (const node of others) node.start();
  const furnished = await furnish(settings, first.base, around, manifest);
  await Promise.all(others.map((node) => node.ready()));
  return furnished;
}

/** Deploys, connects and installs through one address, and makes the records that will be changed. */
export async function furnish(
  settings: Settings,
  base: string,
  { hubspot, salesforce, apiKey }: Around,
  sourceYaml: string,
): Promise<Furnished> {
  const platform = await platformAt(base, apiKey, { hubspot, salesforce });
  await simulator(hubspot, 'POST', '/quotas', { burstMax: null });
  await simulator(salesforce, 'POST', '/quotas', { dailyApiRequests: 1e9, concurrentRequests: 1e6 });
  await deploy(platform, sourceYaml);
  const customers: Customer[] = [];
  for (let at = 0; at < groups; at += 1) {
    customers.push(await install(platform, 'hubspot-crm', `group-${at}`, configOf('companies', 'phone')));
    await install(platform, 'salesforce-crm', `group-${at}`, configOf('Account', 'Phone'));
  }
  const names = Array.from({ length: seededRecords(settings) }, (_, at) => `seeded ${at}`);
  const companies = await simulator<{ ids: string[] }>(hubspot, 'POST', '/data', {
    object: 'companies',
    records: names.map((name) => ({ properties: { name } })),
  });
  const accounts = await simulator<{ ids: string[] }>(salesforce, 'POST', '/data', {
    object: 'Account',
    records: names.map((Name) => ({ Name })),
  });
  for (const { url, ms } of [hubspot, salesforce].map((each) => ({ url: each, ms: settings.latencyMs })))
    await simulator(url, 'POST', '/settings', { latencyMs: ms });
  const seeded = { companies: companies.ids, accounts: accounts.ids };
  return { projectId: platform.projectId, seeded, customers };
}

/** Records of the object may be deleted, and the field is written only where it is empty. */
function configOf(objectName: string, field: string): Record<string, unknown> {
  const selectedFieldSettings = { [field]: { writeOnUpdate: 'ifEmpty' } };
  return {
    write: {
      objects: { [objectName]: { objectName, deletionSettings: { enabled: true }, selectedFieldSettings } },
    },
  };
}
