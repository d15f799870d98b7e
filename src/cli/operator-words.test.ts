import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../../test/free-port.ts';
import { operatorWords } from './operator-words.ts';
import { openFolder, type Folder } from './run.fixture.ts';

describe('cli/operator-words', () => {
  let at: Folder;
  beforeAll(async () => {
    at = await openFolder();
  }, 60_000);
  afterAll(() => at?.close());

  it.each([
    ['server foo', 'svc server has no part foo.', 'those that there are.'],
    ['server docter', 'svc server has no part docter.', 'Did you mean doctor? '],
    ['master-keys', 'svc master-keys needs one of its commands: rotate.', '`svc master-keys --help`'],
    ['master-keys rotat', 'svc master-keys has no command rotat.', 'Did you mean rotate? '],
    ['people invte', 'svc people has no command invte.', 'Did you mean invite? '],
    ['migrate now', 'svc migrate takes no further word and got now.', '`svc migrate --help`'],
    ['restore hold on', 'svc restore hold takes no further word and got on.', '`svc restore hold --help`'],
    ['migrate --plna', 'svc migrate has no option --plna.', 'Did you mean --plan? '],
    ['server --plan', 'svc server has no option --plan.', 'It belongs to svc migrate. '],
    ['migrate --plan=yes', '--plan takes no value.', 'Leave the value away.'],
    ['operator-keys create --full --label', '--label needs a value.', 'Write it behind the option; '],
    ['operator-keys create --label --full', '--label needs a value.', 'Write it behind the option; '],
    ['operator-keys create', 'makes keys with all rights', 'Write svc operator-keys create --full.'],
    ['people invite --owner --email ada', 'ada is no e-mail address.', '--email ada@example.com.'],
    ['people demote', 'svc people demote needs the address of the person.', 'Give it by --email.'],
    ['people reset', 'svc people reset needs the address of the person.', 'Give it by --email.'],
  ])('a mistake is one sentence and one remedy: svc %s', async (words, sentence, remedy) => {
    const env = { SVC_LOG_FORMAT: 'json' };
    const { code, out, err } = await at.run(words.split(' '), { env });
    const [said = '', todo = '', ...more] = err.split('\n');
    expect({ code, out, more }).toEqual({ code: 2, out: '', more: [''] });
    expect(said).toContain(sentence);
    expect(todo).toContain(remedy);
  });

  it.each([
    ['help people', 'Usage: svc people <command>'],
    ['help migrate', 'Usage: svc migrate [options]'],
    ['help keys', 'Usage: svc keys [options] [command]'],
  ])('help before a word tells what --help behind it does: svc %s', async (words, usage) => {
    const [word = ''] = words.split(' ').slice(1);
    const [before, behind] = await Promise.all([at.run(words.split(' ')), at.run([word, '--help'])]);
    expect(before).toMatchObject({ code: 0, err: '' });
    expect(before.out).toMatch(usage);
    expect(before.out).toBe(behind.out);
  });

  it('help on a word that is no command says so', async () => {
    expect(await at.run(['help', 'wirte'])).toMatchObject({
      code: 2,
      out: '',
      err: 'svc has no command wirte.\nDid you mean write? `svc --help` tells those that there are.\n',
    });
  });

  it('a mistake is JSON where --json is said', async () => {
    const { code, err } = await at.run(['master-keys', 'rotat', '--json']);
    expect({ code, err: JSON.parse(err) as unknown }).toEqual({
      code: 2,
      err: {
        error: {
          message: 'svc master-keys has no command rotat.',
          remedy: 'Did you mean rotate? `svc master-keys --help` tells those that there are.',
          code: 'usage',
        },
      },
    });
  });

  it('migrate --plan says that no database is reached, by its exit code, too', async () => {
    const DATABASE_URL = `postgres://svc@127.0.0.1:${await freePort()}/svc`;
    const env = {
      DATABASE_URL,
      SVC_ENCRYPTION_KEYS: `t1:${Buffer.alloc(32, 7).toString('base64')}`,
      SVC_LOG_FORMAT: 'json',
    };
    const said = await at.run(['migrate', '--plan'], { env });
    expect(said).toMatchObject({ code: 4, out: '' });
    expect(said.err).toMatch(
      /^The database .*\/svc of DATABASE_URL gave no answer: .*ECONNREFUSED.*\.\nCheck .*DATABASE_URL.*\n$/,
    );
    const asJson = await at.run(['migrate', '--plan', '--json'], { env });
    expect(asJson.code).toBe(4);
    expect(JSON.parse(asJson.err)).toMatchObject({ error: { code: 'database-unavailable' } });
    const nowhere = await at.run(['migrate', '--plan'], { env: { SVC_DATA_DIR: at.folder } });
    expect(nowhere).toMatchObject({ code: 4, out: '' });
    expect(nowhere.err).toMatch(/^There is no embedded database in .*\.\nRun .* DATABASE_URL .*\n$/);
  }, 60_000);

  it('a command of the server gives up on a database that does not answer, and says where to look', async () => {
    const DATABASE_URL = `postgres://svc@127.0.0.1:${await freePort()}/svc`;
    const env = { DATABASE_URL, SVC_ENCRYPTION_KEYS: `t1:${Buffer.alloc(32, 7).toString('base64')}` };
    const said = await at.run(['operator-keys', 'create', '--full'], { env });
    expect(said).toMatchObject({ code: 4, out: '' });
    expect(said.err).toMatch(
      /\nThe database .*\/svc of DATABASE_URL gave no answer: .*ECONNREFUSED.*\.\nCheck .*DATABASE_URL.*svc server doctor.*\n$/,
    );
  }, 90_000);

  it.each(operatorWords.map(({ words, usage, options }) => ({ words, usage, options })))(
    'help is of the command alone: svc $words --help',
    async ({ words, usage, options }) => {
      const { code, out, err } = await at.run([...words.split(' '), '--help']);
      expect({ code, err }).toEqual({ code: 0, err: '' });
      expect(out.startsWith(`Usage: svc ${usage}`)).toBe(true);
      expect([...out.matchAll(/^ {2}--([\w-]+)/gm)].map(([, name]) => name)).toEqual(Object.keys(options));
    },
  );

  it('help after half of the words lists the others', async () => {
    const { code, out } = await at.run(['restore', '-h']);
    expect({ code, out }).toEqual({
      code: 0,
      out: expect.stringMatching(
        /^Usage: svc restore <command>\n[^]*restore hold[^]*restore resume/,
      ) as string,
    });
  });
});
