import { execFile, execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Ajv } from 'ajv';
import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../..');
const chart = join(root, 'deploy/helm/svc');
const read = (path: string): Promise<string> => readFile(join(root, path), 'utf8');

/** `HELM` names it where it is not on the path. */
const helm = process.env['HELM'] ?? 'helm';
const hasHelm = ((): boolean => {
  try {
    execFileSync(helm, ['version']);
    return true;
  } catch {
    return false;
  }
})();

interface Container {
  args: string[];
  env: { name: string; value?: string; valueFrom?: unknown }[];
  ports?: { name: string; containerPort: number }[];
  securityContext: Record<string, unknown>;
  readinessProbe?: { httpGet: { path: string; port: string } };
}
interface Rendered {
  kind: string;
  metadata: { name: string; annotations?: Record<string, string> };
  spec: {
    replicas?: number;
    minReplicas?: number;
    selector?: { matchLabels?: Record<string, string> };
    metrics?: { external?: { metric: { name: string } } }[];
    template?: {
      metadata: { labels: Record<string, string> };
      spec: { terminationGracePeriodSeconds?: number; containers: Container[] };
    };
  };
}

const everything = [
  'publicUrl=https://svc.example.com',
  'trustedProxies={10.0.0.0/8}',
  'env.SVC_RATE_LIMIT_PER_KEY=100',
  'api.autoscaling.enabled=true',
  'worker.autoscaling.enabled=true',
  'worker.autoscaling.metricLabels.namespace=svc',
  'podAnnotations.note=x',
  'nodeSelector.disk=ssd',
  'imagePullSecrets[0].name=pull',
  'ingress.enabled=true',
  'ingress.host=svc.example.com',
  'ingress.proxyHost=proxy.svc.example.com',
  'ingress.tlsSecretName=tls',
];

async function render(...settings: string[]): Promise<Rendered[]> {
  const { stdout } = await run(helm, [
    'template',
    'mine',
    chart,
    ...settings.flatMap((one) => ['--set', one]),
  ]);
  return parseAllDocuments(stdout).flatMap((document) => {
    expect(document.errors).toEqual([]);
    return (document.toJS() as Rendered | null) ?? [];
  });
}

async function knownVariables(): Promise<Set<string | undefined>> {
  const page = await read('docs/configuration.md');
  return new Set([...page.matchAll(/^\| `(\w+)`/gm)].map(([, name]) => name));
}

describe('test/deploy/helm', () => {
  it('has values that fit their schema, which refuses what it does not know', async () => {
    const schema = JSON.parse(await read('deploy/helm/svc/values.schema.json')) as object;
    const fits = new Ajv({ allErrors: true, strict: false }).compile(schema);
    const values = parse(await read('deploy/helm/svc/values.yaml')) as Record<string, unknown>;
    fits(values);
    expect(fits.errors).toBeNull();
    expect(fits({ ...values, publicURL: 'x' })).toBe(false);
    expect(fits({ ...values, env: { svc_port: '1' } })).toBe(false);
    const others = [...(await knownVariables())].filter((name) => name !== 'DATABASE_URL');
    expect(others.filter((name) => !fits({ ...values, env: { [String(name)]: '1' } }))).toEqual([]);
    expect(fits({ ...values, ingress: { enabled: true } })).toBe(false);
  });

  it('names variables that there are, and the metric that there is', async () => {
    const known = await knownVariables();
    const templates = await read('deploy/helm/svc/templates/_helpers.tpl');
    const set = new Set(templates.match(/\b(DATABASE_URL|SVC_[A-Z_]+)\b/g));
    expect(set.size).toBeGreaterThan(7);
    expect([...set].filter((name) => !known.has(name))).toEqual([]);
    expect(await read('docs/operating.md')).toContain('`svc_work_oldest_waiting_seconds`');
  });

  it.skipIf(!hasHelm)(
    'is taken by helm, and runs each role without rights, ready and in time (needs helm)',
    async () => {
      await run(helm, ['lint', '--strict', chart]);
      const known = await knownVariables();
      const rendered = await render(...everything);
      const kinds = rendered.map(({ kind, metadata: { name } }) => `${kind} ${name}`).toSorted();
      expect(kinds).toEqual([
        'Deployment mine-svc-api',
        'Deployment mine-svc-worker',
        'HorizontalPodAutoscaler mine-svc-api',
        'HorizontalPodAutoscaler mine-svc-worker',
        'Ingress mine-svc',
        'Job mine-svc-migrate',
        'PodDisruptionBudget mine-svc-api',
        'PodDisruptionBudget mine-svc-worker',
        'Service mine-svc',
      ]);
      const pods = rendered.flatMap(({ spec }) => spec.template ?? []);
      const containers = pods.flatMap(({ spec }) => spec.containers);
      expect(containers.flatMap(({ args }) => args).toSorted()).toEqual(['api', 'migrate', 'worker']);
      for (const { env, securityContext } of containers) {
        expect(env.filter(({ name }) => !known.has(name))).toEqual([]);
        expect(securityContext).toMatchObject({
          readOnlyRootFilesystem: true,
          allowPrivilegeEscalation: false,
        });
        expect(env).toContainEqual({ name: 'SVC_RATE_LIMIT_PER_KEY', value: '100' });
      }
      const nodes = rendered.filter(({ kind }) => kind === 'Deployment');
      for (const { spec } of nodes) {
        // An autoscaler counts the replicas.
        expect(spec.replicas).toBeUndefined();
        expect(spec.template?.metadata.labels).toMatchObject(
          spec.selector?.matchLabels ?? { no: 'selector' },
        );
        expect(spec.template?.spec.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(10 + 25 + 5);
        const [container] = spec.template?.spec.containers ?? [];
        expect(container?.readinessProbe?.httpGet).toEqual({ path: '/readyz', port: 'health' });
        expect(container?.ports).toContainEqual({ name: 'health', containerPort: 4002 });
      }
      const scalers = rendered.flatMap(({ spec }) => spec.metrics ?? []);
      expect(scalers.flatMap(({ external }) => external?.metric.name ?? [])).toEqual([
        'svc_work_oldest_waiting_seconds',
      ]);
      const migrates = rendered.find(({ kind }) => kind === 'Job');
      expect(migrates?.metadata.annotations?.['helm.sh/hook']).toBe('pre-install,pre-upgrade');
      await expect(render('unknown=1')).rejects.toThrow(/unknown/);
      const plain = await render();
      expect(plain.filter(({ kind }) => kind === 'Deployment').map(({ spec }) => spec.replicas)).toEqual([
        2, 2,
      ]);
    },
    60_000,
  );
});
