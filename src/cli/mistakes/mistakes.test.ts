import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Command } from 'commander';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { effects } from '../../../test/customer.ts';
import { createProgram } from '../program.ts';
import type { Ran } from '../run.fixture.ts';
import { ofAccess } from './access.fixture.ts';
import { common, leastOf } from './common.fixture.ts';
import { ofCustomers } from './customers.fixture.ts';
import { ofDeliveries } from './deliveries.fixture.ts';
import { runHere } from './here.fixture.ts';
import { ofManifests } from './manifest.fixture.ts';
import { wordsOf, type Mistake, type Mistakes } from './mistake.fixture.ts';
import { ofProviderApps } from './provider-apps.fixture.ts';
import { ofRecords } from './records.fixture.ts';
import { openWorld, type World } from './world.fixture.ts';

const own: Mistakes = {
  ...ofManifests,
  ...ofProviderApps,
  ...ofRecords,
  ...ofCustomers,
  ...ofDeliveries,
  ...ofAccess,
};
const all = leastOf(createProgram());
const groups = [...new Set(all.map(({ path }) => path.split(' ')[0] ?? ''))];
/** What they find is their result, and stands on the output. */
const finders = new Set(['validate', 'doctor']);
const least = { ofAll: 10, ofItsOwn: 4 };

describe('cli/mistakes', () => {
  let world: World;
  let before: object;

  beforeAll(async () => {
    world = await openWorld();
    before = await standing();
  }, 120_000);
  afterAll(() => world?.close());

  const named = (text: string): string =>
    text.replaceAll(/\$([A-Z]+)/g, (whole, name: string) => world.names[name] ?? whole);
  /** What is another at each run by its name. */
  const told = (text: string): string =>
    Object.entries(world.names)
      .toSorted(([, a], [, b]) => b.length - a.length)
      .reduce((so, [name, value]) => so.replaceAll(value, `$${name}`), text)
      .replaceAll(/\b[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, '$ID')
      .replaceAll(/svc_[0-9a-f]{4}…/g, 'svc_$N…')
      .replaceAll(/127\.0\.0\.1:\d+/g, '127.0.0.1:$N')
      .replaceAll(/--(receiver-)?port \d+/g, '--$1port $N')
      .replaceAll(/Request id \S+/g, 'Request id $ID');

  const made = async (path: string, [, words, { input = '', env = {} } = {}]: Mistake): Promise<Ran> => {
    const given = Object.entries(env).map(([name, value]) => [name, named(value)]);
    return runHere(
      [...path.split(' '), ...wordsOf(words).map(named)],
      {
        PATH: process.env['PATH'] ?? '',
        HOME: world.folder,
        XDG_CONFIG_HOME: join(world.folder, '.config'),
        SVC_API_URL: world.platform.base,
        SVC_API_KEY: world.platform.apiKey,
        SVC_PROXY_URL: world.platform.proxy,
        ...(Object.fromEntries(given) as Record<string, string>),
      },
      named(input),
    );
  };

  /** What a mistake must leave as it is: the files, what the server has, and what the provider was told. */
  async function standing(): Promise<object> {
    const files = await readdir(world.folder, { recursive: true, withFileTypes: true });
    const hashes = files
      .filter((file) => file.isFile())
      .map(async ({ parentPath, name }) => [
        name,
        createHash('sha256')
          .update(await readFile(join(parentPath, name)))
          .digest('hex'),
      ]);
    const list = async (path: string): Promise<string> =>
      (await world.platform.call('GET', `/projects/default/${path}`)).text.replaceAll(
        /,"lastUsedAt":"[^"]*"/g,
        '',
      );
    const changes = await effects(world.platform.hubspot);
    const idsIn = (text: string): string[] =>
      [...text.matchAll(/"(id|connectionId|revisionId)":"[^"]*"/g)].map(([id]) => id);
    return {
      files: await Promise.all(hashes),
      things: await Promise.all(
        ['api-keys', 'destinations', 'notifications', 'integrations', 'provider-apps'].map(list),
      ),
      // How healthy one is goes by its last operation, which may be a mistake.
      installations: idsIn(await list('installations')),
      connections: idsIn(await list('connections')),
      changes: changes.length,
    };
  }

  it(`each command has ${least.ofAll} mistakes, ${least.ofItsOwn} of them its own`, () => {
    const few = all.flatMap((one) => {
      const its = own[one.path]?.length ?? 0;
      const shared = common.filter(({ of }) => of(one) !== undefined).length;
      return its >= least.ofItsOwn && its + shared >= least.ofAll
        ? []
        : [`${one.path}: ${its} and ${shared}`];
    });
    expect(few).toEqual([]);
    const paths = new Set(all.map(({ path }) => path));
    expect(Object.keys(own).filter((path) => !paths.has(path))).toEqual([]);
  });

  it.each(groups)(
    'svc %s',
    async (group) => {
      const answers: string[] = [];
      const faults: string[] = [];
      for (const [path, mistakes] of Object.entries(own).filter(([one]) => one.split(' ')[0] === group))
        for (const mistake of mistakes) {
          const [ends, words, { input } = {}] = mistake;
          const line =
            `svc ${path} ${words}`.trim() + (input === undefined ? '' : ` <<< ${JSON.stringify(input)}`);
          const ran = await made(path, mistake);
          faults.push(
            ...faultsOf(ran, ends, finders.has(path)).map((fault) => `${line}: ${fault}: ${ran.err}`),
          );
          answers.push(`$ ${line}\n${told(ran.out)}${told(ran.err)}[${ran.code}]\n`);
        }
      expect(faults).toEqual([]);
      await expect(answers.join('\n')).toMatchFileSnapshot(`answers/${group}.txt`);
    },
    60_000,
  );

  it('to a program each says the same as JSON', async () => {
    const faults: string[] = [];
    for (const { path } of all.filter((one) => hasJson(one.command) && !finders.has(one.path)))
      for (const [ends, words, beside] of own[path] ?? []) {
        // It would be the value of the last option.
        if (/(^| )-{1,2}\w[\w-]*$/.test(words)) continue;
        const { code, out, err } = await made(path, [ends, `${words} --json`, beside]);
        const lines = err.trimEnd().split('\n');
        const { message, remedy } = errorIn(lines.at(-1) ?? '');
        const isSaid = typeof message === 'string' && (typeof remedy === 'string' || path === 'write');
        if (code !== ends || out !== '' || !isSaid)
          faults.push(`svc ${path} ${words}: ${code} ${out} ${err}`);
      }
    expect(faults).toEqual([]);
  }, 60_000);

  it('each command answers with the same to what any may meet', async () => {
    const answers: string[] = [];
    const faults: string[] = [];
    for (const { what, of } of common) {
      const said = new Map<string, number>();
      await Promise.all(
        all.map(async (one) => {
          const mistake = of(one);
          if (!mistake) return;
          const ran = await made(one.path, mistake);
          faults.push(
            ...faultsOf(ran, mistake[0], false).map(
              (fault) => `svc ${one.path} ${mistake[1]}: ${what}: ${fault}: ${ran.err}`,
            ),
          );
          const answer = `${told(ran.err)}[${ran.code}]`
            .replaceAll(`svc ${one.path}`, 'svc …')
            .replaceAll(/(?<=Write it such as ).*/g, '…')
            .replaceAll(/<.*>.*/g, '<…>')
            .replaceAll(/got \d: .*/g, 'got …');
          said.set(answer, (said.get(answer) ?? 0) + 1);
        }),
      );
      answers.push(
        `# ${what}\n${[...said]
          .map(([answer, count]) => `${answer} × ${count}\n`)
          .toSorted()
          .join('')}`,
      );
    }
    expect(faults).toEqual([]);
    await expect(answers.join('\n')).toMatchFileSnapshot('answers/common.txt');
  }, 120_000);

  it('none of it was done in part', async () => {
    world.release();
    expect(await standing()).toEqual(before);
  });
});

function hasJson({ options }: Command): boolean {
  return options.some(({ long }) => long === '--json');
}

function errorIn(line: string): { message?: unknown; remedy?: unknown } {
  try {
    return (JSON.parse(line) as { error?: object }).error ?? {};
  } catch {
    return {};
  }
}

/** What would tell a newcomer nothing: the insides of the program, of its client, or of the system. */
const inside =
  /undefined|\[object|\bNaN\b|\n\s+at |node:|TypeError|must NOT|must be object|`issues`|`provider\.|x-svc-|projectIdOrName|(?<!\()\bE[A-Z]{4,}\b/;

/** One sentence, with what belongs to it below, and one remedy; nothing on the output. */
function faultsOf({ code, out, err }: Ran, ends: number, isFinder: boolean): string[] {
  const said = isFinder && out !== '' ? out : err;
  const lines = said.trimEnd().split('\n');
  return [
    ...(code === ends ? [] : [`ends with ${code}, not ${ends}`]),
    ...(out === '' || isFinder ? [] : [`says on the output ${out.slice(0, 80)}`]),
    ...(inside.test(said) ? [`tells ${inside.exec(said)?.[0]}`] : []),
    ...(lines.length >= 2 && /[.:?)]$/m.test(lines.slice(0, -1).join('\n'))
      ? []
      : ['is no sentence and remedy']),
  ];
}
