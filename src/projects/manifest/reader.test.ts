import { afterAll, describe, expect, it } from 'vitest';
import { catalog } from './check.fixture.ts';
import { createManifestReader } from './reader.ts';

const reader = createManifestReader(catalog);
const text = (name: string): string =>
  `specVersion: 1.0.0\nintegrations: [{ name: ${name}, provider: hubspot, proxy: { enabled: true } }]`;

describe('src/projects/manifest/reader', () => {
  afterAll(() => reader.close());

  it('reads the text of a project next, however many another project sent before', async () => {
    const read: (string | undefined)[] = [];
    const sent = ['first', ...Array.from({ length: 8 }, (_, at) => `first${at}`), 'second'];
    await Promise.all(
      sent.map(async (name) => {
        const { manifest } = await reader.read(name.startsWith('first') ? 'first' : 'second', text(name));
        read.push(manifest?.integrations[0]?.name);
      }),
    );
    expect(read.indexOf('second')).toBe(1);
    expect(new Set(read)).toEqual(new Set(sent));
  });

  it('places each object, and the proxy, for what is found of them later', async () => {
    const lines = [
      'specVersion: 1.0.0',
      'integrations:',
      '  - name: mine',
      '    provider: hubspot',
      '    read:',
      '      objects:',
      '        - objectName: contacts',
      '        - objectName: companies',
      '    write:',
      '      objects:',
      '        - objectName: contacts',
      '    proxy: { enabled: true }',
    ];
    const { places } = await reader.read('first', lines.join('\n'));
    const lineOf = (path: string) => places[`integrations[0].${path}`]?.line;
    expect(['read.objects[0]', 'read.objects[1]', 'write.objects[0]', 'proxy'].map(lineOf)).toEqual([
      7, 8, 11, 12,
    ]);
  });

  it('refuses a project that has eight texts waiting, and nobody else', async () => {
    const all = Array.from({ length: 10 }, (_, at) => reader.read('first', text(`first${at}`)));
    const other = reader.read('second', text('second'));
    const answers = await Promise.allSettled([...all, other]);
    expect(answers.map(({ status }) => status)).toEqual([
      ...Array.from({ length: 9 }, () => 'fulfilled'),
      'rejected',
      'fulfilled',
    ]);
    expect(answers[9]).toMatchObject({ reason: { code: 'overloaded', details: { retryAfterSeconds: 5 } } });
  });
});
