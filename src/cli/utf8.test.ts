import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openFolder, type Folder } from './run.fixture.ts';
import { readLines, type Line } from './write/lines.ts';

const latin1 = (text: string): Buffer => Buffer.from(text, 'latin1');

describe('cli/utf8', () => {
  let at: Folder;

  beforeAll(async () => {
    at = await openFolder();
    await writeFile(join(at.folder, 'svc.yaml'), latin1('# Müller\nspecVersion: 1.0.0\nintegrations: []\n'));
    await writeFile(join(at.folder, 'record.json'), latin1('{"lastname":"Müller"}'));
  });
  afterAll(() => at?.close());

  const write = ['write', 'hubspot-crm', 'contacts', '-g', 'acme'];

  it.each([
    [['validate'], 'svc.yaml', 3],
    [['plan'], 'svc.yaml', 3],
    [['deploy'], 'svc.yaml', 3],
    [['types'], 'svc.yaml', 3],
    [[...write, '--data', '@record.json'], 'record.json', 14],
    [[...write, '--data', '-'], 'What was piped in', 14],
    [['login'], 'What was piped in', 14],
  ])(
    '%s refuses text of another encoding by its first wrong byte',
    async (words, source, byte) => {
      const ran = await at.run(words, { input: latin1('{"lastname":"Müller"}') });
      const err = `${source} cannot be read: it is not UTF-8: byte ${byte} (from 0).\nSave it as UTF-8.\n`;
      expect(ran).toEqual({ code: 2, out: '', err });
    },
    30_000,
  );

  const ground = { project: 'p', integration: 'i', object: 'o', group: 'g', type: 'create', mode: 'm' };
  const linesIn = async (...chunks: Buffer[]): Promise<Line[]> => {
    const lines = readLines(
      Readable.from(chunks),
      () => Promise.resolve(ground),
      new AbortController().signal,
    );
    const found: Line[] = [];
    for await (const line of lines) found.push(line);
    return found;
  };

  it('a line of another encoding is no record, and the others are read', async () => {
    const text = latin1('{"a":"Ada"}\n{"a":"Müller"}\r\n\r\n{"a":"Grace"}');
    expect(await linesIn(text)).toMatchObject([
      { number: 1, record: { a: 'Ada' } },
      { number: 2, fault: 'it is not UTF-8: byte 7 (from 0). Save the file as UTF-8' },
      { number: 4, record: { a: 'Grace' } },
    ]);
    expect((await linesIn(text))[1]).not.toHaveProperty('record');
  });

  it('a line is read whole however its bytes come, also with a separator that JSON allows in a text', async () => {
    const text = Buffer.from('\uFEFF{"a":"Zürich\u2028€"}\n{"a":"🙂"}\n');
    const whole = await linesIn(text);
    expect(whole).toMatchObject([{ record: { a: 'Zürich\u2028€' } }, { record: { a: '🙂' }, number: 2 }]);
    expect(whole.reduce((sum, { bytes }) => sum + bytes, 0)).toBe(text.length);
    expect(await linesIn(...[...text].map((byte) => Buffer.from([byte])))).toEqual(whole);
  });
});
