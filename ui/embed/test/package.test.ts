import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { publint } from 'publint';
import { build, type Rollup } from 'vite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '../../..');
const home = join(root, 'ui/embed');

async function run(cwd: string, file: string, args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(file, args, { cwd, timeout: 120_000 });
  return stdout;
}

describe('ui/embed/package', () => {
  /** An application that has installed the package as it would be published. */
  let app: string;
  let tarball: Buffer;

  beforeAll(async () => {
    app = await mkdtemp(join(tmpdir(), 'svc-embed-'));
    await run(root, process.execPath, ['scripts/node.mjs', 'scripts/build-embed.ts']);
    await run(home, 'npm', ['pack', '--pack-destination', app]);
    const file = (await readdir(app)).find((name) => name.endsWith('.tgz')) ?? '';
    tarball = await readFile(join(app, file));
    const scope = join(app, 'node_modules/@svc');
    await mkdir(scope, { recursive: true });
    await run(scope, 'tar', ['xzf', join(app, file)]);
    await run(scope, 'mv', ['package', 'embed']);
    await symlink(join(root, 'ui/client'), join(scope, 'client'));
    const shared = ['react', 'react-dom', 'downshift', '@types', 'csstype', 'openapi-fetch'];
    for (const name of shared)
      await symlink(join(root, 'node_modules', name), join(app, 'node_modules', name));
    await writeFile(join(app, 'package.json'), '{"name":"app","type":"module"}');
  }, 180_000);
  afterAll(() => rm(app, { recursive: true, force: true }));

  it('publint and arethetypeswrong find nothing', async () => {
    const { messages } = await publint({ pkgDir: join(app, 'node_modules/@svc/embed'), level: 'warning' });
    expect(messages).toEqual([]);
    const analysis = await checkPackage(createPackageFromTarballData(new Uint8Array(tarball)), {
      entrypoints: ['.', './hooks', './styles.css'],
    });
    if (analysis.types === false) throw new Error('the package has no types');
    // It is ESM only, for resolution by `exports`.
    const counts = (one: (typeof analysis.problems)[number]): boolean =>
      !('resolutionKind' in one && (one.resolutionKind === 'node10' || one.resolutionKind === 'node16-cjs'));
    expect(analysis.problems.filter(counts)).toEqual([]);
  });

  it('compiles in strict code, which imports the styles and reads what an error says', async () => {
    const code = `import '@svc/embed/styles.css';
import { SvcError, useCreateInstallation, useInstallation } from '@svc/embed';
import * as hooks from '@svc/embed/hooks';

export function useIssues(): readonly string[] {
  const { createInstallation, error } = useCreateInstallation();
  const failed: SvcError | undefined = useInstallation().error;
  void createInstallation({ config: { provider: 'hubspot' }, onError: ({ code, status }) => [code.length, status + 1] });
  return [error, failed, hooks.useManifest().error].flatMap((one) => one?.issues.map(({ detail }) => detail) ?? []);
}
export const isRefused = (cause: unknown): boolean => cause instanceof SvcError && cause.status === 422;
`;
    await writeFile(join(app, 'app.ts'), code);
    const options = [
      '--strict',
      '--noEmit',
      '--noUncheckedSideEffectImports',
      '--target',
      'es2024',
      '--module',
      'esnext',
    ];
    const given = ['--moduleResolution', 'bundler', '--jsx', 'react-jsx', '--types', 'react', 'app.ts'];
    const tsc = join(root, 'node_modules/typescript/bin/tsc');
    await expect(run(app, process.execPath, [tsc, ...options, ...given])).resolves.toBe('');
  });

  /** As the bundler of an application leaves it, without React. Not as a library: there Vite keeps the white space of modules. */
  async function sizeOf(code: string): Promise<number> {
    await writeFile(join(app, 'entry.js'), code);
    const built = (await build({
      root: app,
      configFile: false,
      logLevel: 'silent',
      define: { 'process.env.NODE_ENV': '"production"' },
      build: {
        write: false,
        minify: 'esbuild',
        rollupOptions: {
          input: join(app, 'entry.js'),
          preserveEntrySignatures: 'strict',
          external: [/^react($|\/)/, /^react-dom($|\/)/],
        },
      },
    })) as Rollup.RollupOutput;
    return built.output.reduce(
      (sum, chunk) => sum + gzipSync('code' in chunk ? chunk.code : chunk.source).length,
      0,
    );
  }

  it('begins each entry for clients, and is imported where React has no hooks', async () => {
    const { exports } = JSON.parse(await readFile(join(home, 'package.json'), 'utf8')) as {
      exports: Record<string, { default?: string }>;
    };
    for (const { default: file } of [exports['.'], exports['./hooks']].flatMap((one) => one ?? []))
      expect(await readFile(join(app, 'node_modules/@svc/embed', file ?? ''), 'utf8')).toMatch(
        /^'use client';/,
      );
    const code = `const names = async (from) => Object.keys(await import(from)).join();
      console.log(await names('@svc/embed')); console.log(await names('@svc/embed/hooks'));`;
    const asServer = ['--conditions', 'react-server', '--input-type=module', '-e', code];
    expect(await run(app, process.execPath, asServer)).toBe(
      await run(app, process.execPath, ['--input-type=module', '-e', code]),
    );
  });

  it('has a page that names all that it exports', async () => {
    const page = await readFile(join(root, 'docs/guides/embed.md'), 'utf8');
    const named = async (file: string): Promise<string[]> => {
      const text = await readFile(join(home, 'src', file), 'utf8');
      return [...text.matchAll(/export (?:type )?\{([^}]*)\}/g)]
        .flatMap(([, names = '']) => names.split(','))
        .map((name) => name.trim().replace(/^type /, ''))
        .filter(Boolean);
    };
    const [all, hooks] = [await named('index.ts'), await named('hooks/index.ts')];
    expect(all).toEqual(expect.arrayContaining(hooks));
    expect(all.filter((name) => !new RegExp(`\\b${name}\\b`).test(page))).toEqual([]);
  });

  it('is no larger than 60 KB for a browser, its hooks alone no larger than 15 KB', async () => {
    const all = await sizeOf(
      "export { ConnectProvider, ConnectionHealth, InstallIntegration, SvcProvider } from '@svc/embed'; import '@svc/embed/styles.css';",
    );
    const hooks = await sizeOf("export * from '@svc/embed/hooks';");
    expect(all).toBeLessThan(60 * 1_024);
    expect(hooks).toBeLessThan(15 * 1_024);
  });
});
