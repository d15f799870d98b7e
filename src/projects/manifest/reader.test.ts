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
