import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { startChild, untilReady, type Child } from '../../scripts/child.ts';
import { freePort } from '../free-port.ts';
import { leaseMs } from '../faults/suite/settings.ts';

export type ReleaseName = 'former' | 'present';
const roles = ['api', 'worker'] as const;
type Role = (typeof roles)[number];

/** Two nodes of each role. */
const places = [0, 1] as const;

/** Long, because the load slows down a start. */
const startMs = 180_000;

interface Node {
  release: ReleaseName;
  role: Role;
  child: Child;
}

interface Ports {
  api: number;
  proxy: number;
  health: number;
}

export interface FleetOptions {
  folders: Record<ReleaseName, string>;
  /** Where what a node keeps on disk goes. */
  folder: string;
  env: Record<string, string>;
}

/** Nodes of two releases on one database; each replaces that of the other release in its place. */
export class Fleet {
  private readonly nodes = new Map<string, Node>();
  /** What nodes said that are gone, by what they were. */
  private readonly gone: { name: string; said: string }[] = [];

  private readonly options: FleetOptions;
  private readonly ports: ReadonlyMap<string, Ports>;

  private constructor(options: FleetOptions, ports: ReadonlyMap<string, Ports>) {
    this.options = options;
    this.ports = ports;
  }

  static async open(options: FleetOptions): Promise<Fleet> {
    const ports = new Map<string, Ports>();
    for (const release of ['former', 'present'] as const)
      for (const role of roles)
        for (const place of places)
          ports.set(`${release} ${role} ${place}`, {
            api: await freePort(),
            proxy: await freePort(),
            health: await freePort(),
          });
    return new Fleet(options, ports);
  }

  /** Of all nodes that take requests, those that do not run too. */
  upstreams(of: 'api' | 'proxy'): number[] {
    return [...this.ports].flatMap(([name, ports]) => (name.includes(' api ') ? [ports[of]] : []));
  }

  /** One node after the other, those that take requests last, each new one beside the one that it replaces. */
  async replaceAll(release: ReleaseName, say: (line: string) => void): Promise<void> {
    for (const role of roles.toReversed())
      for (const place of places) {
        const before = this.nodes.get(`${role} ${place}`);
        this.nodes.set(`${role} ${place}`, await this.start(release, role, place));
        if (before) await this.end(before);
        say(`${role} ${place}: ${before ? `${before.release} → ` : ''}${release}`);
      }
  }

  private async start(release: ReleaseName, role: Role, place: number): Promise<Node> {
    const name = `${release} ${role} ${place}`;
    const ports = this.ports.get(name);
    const dataDir = join(this.options.folder, name.replaceAll(' ', '-'));
    await mkdir(dataDir, { recursive: true });
    const env = {
      ...this.options.env,
      NODE_COMPILE_CACHE: join(this.options.folder, 'compile-cache'),
      SVC_DATA_DIR: dataDir,
      SVC_PORT: String(ports?.api),
      SVC_PROXY_PORT: String(ports?.proxy),
      SVC_HEALTH_PORT: String(ports?.health),
      SVC_LEASE_MS: String(5 * leaseMs),
      // Requests are taken for so long after SIGTERM, until nginx tries the next node.
      SVC_DRAIN_MS: '500',
    };
    const child = startChild(['src/main.ts', role], { cwd: this.options.folders[release], env });
    try {
      await untilReady(`http://127.0.0.1:${ports?.health}`, child, startMs);
    } catch (error) {
      await child.end('SIGKILL');
      throw error;
    }
    return { release, role, child };
  }

  private async end({ release, role, child }: Node): Promise<void> {
    await child.end('SIGTERM', 40_000);
    const { exitCode, signalCode } = child.process;
    const said =
      exitCode === 0 ? child.said() : `${child.said()}\n"level":50 ended with ${signalCode ?? exitCode}`;
    this.gone.push({ name: `${release} ${role}`, said });
  }

  /** Lines that tell of an error, by the node that wrote them. */
  errors(): string[] {
    const living = [...this.nodes.values()].map(({ release, role, child }) => ({
      name: `${release} ${role}`,
      said: child.said(),
    }));
    return [...this.gone, ...living].flatMap(({ name, said }) =>
      said
        .split('\n')
        .filter((line) => /"level":(50|60)/.test(line))
        .map((line) => `${name}: ${line.slice(0, 400)}`),
    );
  }

  async close(): Promise<void> {
    await Promise.all([...this.nodes.values()].map(({ child }) => child.end('SIGKILL')));
  }
}
