import { describe, expect, it } from 'vitest';
import { maxManifestBytes, readYaml } from './read-yaml.ts';

const rules = (text: string): string[] => readYaml(text).findings.map(({ rule }) => rule);

describe('src/projects/manifest/read-yaml', () => {
  it('gives values and the line and column of each path', () => {
    const source = readYaml('a: 1\nlist:\n  - name: x\n    deep:\n      key: y\n');
    expect(source.findings).toEqual([]);
    expect(source.value).toEqual({ a: 1, list: [{ name: 'x', deep: { key: 'y' } }] });
    expect(source.locate(['a'])).toEqual({ line: 1, column: 1 });
    expect(source.locate(['list', 0])).toEqual({ line: 3, column: 5 });
    expect(source.locate(['list', 0, 'deep', 'key'])).toEqual({ line: 5, column: 7 });
  });

  it('places what is absent at its nearest ancestor', () => {
    expect(readYaml('a:\n  b: 1\n').locate(['a', 'missing', 0])).toEqual({ line: 1, column: 1 });
  });

  it('reads 1.0.0 as text and keeps yes and no as text (YAML 1.2)', () => {
    expect(readYaml('v: 1.0.0\nw: yes\n').value).toEqual({ v: '1.0.0', w: 'yes' });
  });

  it('names the line of a syntax error', () => {
    const source = readYaml('a: 1\nb: [1,\nc: 2\n');
    expect(source.findings[0]?.rule).toBe('yaml-syntax');
    expect(source.locate([]).line).toBeGreaterThan(1);
  });

  describe('a slip of YAML is told in our words, where it is, with the remedy', () => {
    const sound = `specVersion: 1.0.0
integrations:
  - name: crm
    provider: hubspot
    read:
      objects:
        - objectName: contacts
          schedule: '*/30 * * * *'
`;
    it.each<[slip: string, from: string, to: string, line: number, said: string]>([
      [
        'a cron expression without quotes',
        `'*/30 * * * *'`,
        '*/30 * * * *',
        8,
        "begin with *. Put the value in quotes: '*/30 * * * *'",
      ],
      ['one of stars', `'*/30 * * * *'`, '* * * * *', 8, "quotes: '* * * * *'"],
      ['a space too many', '    provider', '     provider', 4, 'indented by 5 spaces'],
      ['a space too many at the top', 'integrations:', ' integrations:', 2, 'indented by 1 space '],
      ['a space too few', '    provider', '   provider', 4, 'indented by 3 spaces'],
      ['a space too many, far in', '          schedule', '           schedule', 8, 'indented by 11 spaces'],
      ['a space too few, far in', '          schedule', '         schedule', 8, 'indented by 9 spaces'],
      [
        'no space after the colon',
        'provider: hubspot',
        'provider:hubspot',
        4,
        'after the colon. Write provider: hubspot',
      ],
      [
        'no space after the last colon',
        `schedule: '*/30 * * * *'`,
        'schedule:hourly',
        8,
        'Write schedule: hourly',
      ],
      ['no space after the dash', '- name', '-name', 3, 'after the dash. Write - name: crm'],
      ['a colon in a value', `'*/30 * * * *'`, "Note: it's which", 8, "quotes: 'Note: it''s which'"],
      ['a second document', '    read:', '---\nread:', 5, 'one document'],
      ['a tab', '    provider', '\tprovider', 4, 'Indent with spaces'],
      [
        'a reserved sign',
        'hubspot',
        '@hubspot',
        4,
        "cannot begin with @. Put the value in quotes: '@hubspot'",
      ],
      ['an open bracket', 'hubspot', '[hubspot', 5, 'is not closed'],
      ['an open quote', 'hubspot', '"hubspot', 9, 'quote that was opened before this place is not closed'],
      ['more than the quoted', 'hubspot', '"hub" spot', 4, 'Put the whole value in quotes'],
      ['an escape', 'hubspot', '"hub\\spot"', 4, 'single quotes'],
      ['a list in the line of its key', 'hubspot', '- hubspot', 4, 'Begin it in the next line'],
    ])('%s', (_slip, from, to, line, said) => {
      const source = readYaml(sound.replace(from, to));
      const [{ rule, message, suggestion } = { rule: '', message: '' }] = source.findings;
      expect([rule, source.locate([]).line, `${message}. ${suggestion}`]).toEqual([
        'yaml-syntax',
        line,
        expect.stringContaining(said),
      ]);
    });

    it('a text whose line breaks were cut', () => {
      for (const text of [sound, `# Ours.\n${sound}`]) {
        const [finding] = readYaml(text.replaceAll('\n', '')).findings;
        expect(finding).toMatchObject({
          message: expect.stringMatching(/^the whole text is one line/),
          suggestion: expect.stringContaining('-d cuts'),
        });
      }
    });

    it('what has no words of its own is told in the words of the parser', () => {
      expect(readYaml('a: | b\n').findings[0]?.message).toContain('cannot be read from here on: Not a YAML');
    });

    it.each(['', '\n', '# a comment\n', '---\n', 'null'])('%j holds nothing', (text) => {
      expect(readYaml(text).findings).toMatchObject([{ rule: 'yaml-empty' }]);
    });
  });

  it('refuses a key that stands twice, at its second place', () => {
    const source = readYaml('a: 1\nb: 2\na: 3\n');
    expect(source.findings).toMatchObject([{ rule: 'yaml-duplicate-key', path: ['a'] }]);
    expect(source.locate(['a'])).toEqual({ line: 3, column: 1 });
  });

  it.each([
    ['a value', 'b: "\\0"', ['a', 0, 'b'], 5],
    ['a value with half of a pair', 'b: "x\\uD800"', ['a', 0, 'b'], 5],
    ['a value of a list', 'b: [c, "\\x00"]', ['a', 0, 'b', 1], 12],
    ['a key', '"b\\0c": d', ['a', 0, 'b\0c'], 5],
    ['a key with half of a pair', '"\\uDC00": d', ['a', 0, '\uDC00'], 5],
  ])('refuses an escape of what no column keeps, where it stands: %s', (_what, line, path, column) => {
    const source = readYaml(`a:\n  - ${line}\n`);
    expect(source.findings).toMatchObject([{ severity: 'error', rule: 'yaml-character', path }]);
    expect(source.locate(path)).toEqual({ line: 2, column });
    expect(readYaml('a: "\\uD83D\\uDE00"').findings).toEqual([]);
  });

  it('unfolds aliases, and places what stands in them where it was written', () => {
    const source = readYaml('a: &x\n  k: 1\nb: *x\n');
    expect(source.value).toEqual({ a: { k: 1 }, b: { k: 1 } });
    expect(source.locate(['b', 'k'])).toEqual({ line: 2, column: 3 });
  });

  it('does not merge: << is a key like any other', () => {
    expect(readYaml('a: &x { k: 1 }\nb:\n  <<: *x\n').value).toEqual({ a: { k: 1 }, b: { '<<': { k: 1 } } });
  });

  it.each([
    ['an alias without an anchor', 'a: *x\n', 'yaml-alias'],
    ['an alias inside of what it names', 'a: &x [*x]\n', 'yaml-alias'],
    ['a key that is a list', '? [1]\n: 2\n', 'yaml-key'],
    ['more than one document', 'a: 1\n---\nb: 2\n', 'yaml-syntax'],
    ['deep nesting', `${'['.repeat(70)}${']'.repeat(70)}`, 'yaml-size'],
    ['more than the size limit', `a: ${'x'.repeat(maxManifestBytes)}`, 'yaml-size'],
  ])('refuses %s', (_name, text, rule) => {
    expect(rules(text)).toEqual([rule]);
  });

  it.each(['[],', '{},', 'a,', '`,', '&a ', ']', '-\n', 'a:\n'])(
    'refuses a megabyte of %j by its signs, before it is read',
    (sign) => {
      const { findings } = readYaml(`a: [${sign.repeat(Math.floor(1_000_000 / sign.length))}`);
      const message = 'the manifest holds more than 200000 values, keys and signs';
      expect(findings).toMatchObject([{ rule: 'yaml-size', message }]);
    },
  );

  it('reads as many values as there may be, however they are written', () => {
    const members = Array.from({ length: 24_990 }, (_, at) => `{ "k": ${at} }`);
    expect(rules(`{ "all": [${members.join(', ')}] }`)).toEqual([]);
    expect(rules(`all:\n${members.map((_, at) => `  # ${at}\n  - k: ${at}\n`).join('')}`)).toEqual([]);
  });

  it('refuses a bomb of aliases soon', () => {
    const levels = Array.from({ length: 12 }, (_, level) => {
      const content = level === 0 ? 'x' : Array.from({ length: 10 }, () => `*l${level - 1}`).join(', ');
      return `k${level}: &l${level} [${content}]`;
    });
    const startedAt = performance.now();
    expect(rules(levels.join('\n'))).toEqual(['yaml-size']);
    expect(performance.now() - startedAt).toBeLessThan(3_000);
  });

  it('reads a map of very many keys in time that grows with it, not with its square', () => {
    const text = Array.from({ length: 40_000 }, (_, index) => `k${index}: 1`).join('\n');
    const startedAt = performance.now();
    expect(rules(text)).toEqual([]);
    expect(performance.now() - startedAt).toBeLessThan(5_000);
  });
});
