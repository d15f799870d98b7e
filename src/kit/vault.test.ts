import { describe, expect, test } from 'vitest';
import { createVault, generateMasterKey, parseMasterKeys } from './vault.ts';

const [first, second] = [parseMasterKeys(generateMasterKey('k1')), parseMasterKeys(generateMasterKey('k2'))];

describe('kit/vault', () => {
  const vault = createVault(first);
  const sealed = vault.seal({ token: 'a secret' }, 'p/c/credentials');

  test('opens what it sealed', () => {
    expect(vault.open(sealed, 'p/c/credentials')).toEqual({ token: 'a secret' });
    expect(sealed.includes('a secret')).toBe(false);
  });

  test('a value moved to another row or column stays shut', () => {
    expect(() => vault.open(sealed, 'p/other/credentials')).toThrow('unable to authenticate');
    expect(() => vault.open(sealed, 'p/c/other')).toThrow('unable to authenticate');
  });

  test('a changed byte anywhere is noticed', () => {
    for (let at = 4; at < sealed.length; at += 1) {
      const changed = Buffer.from(sealed);
      changed[at] = (changed[at] ?? 0) ^ 1;
      expect(() => vault.open(changed, 'p/c/credentials')).toThrow(
        /unable to authenticate|is not configured/,
      );
    }
  });

  test('two seals of one value differ', () => {
    expect(vault.seal('x', 'p').equals(vault.seal('x', 'p'))).toBe(false);
  });

  test('another key does not open it, and says which one is missing', () => {
    expect(() => createVault(second).open(sealed, 'p/c/credentials')).toThrow('k1');
    expect(() =>
      createVault(parseMasterKeys(generateMasterKey('k1'))).open(sealed, 'p/c/credentials'),
    ).toThrow('unable to authenticate');
  });

  test('a rotation wraps under the first key of the list and keeps what older keys sealed readable', () => {
    const both = createVault([...second, ...first]);
    expect(both.keyIdOf(sealed)).toBe('k1');
    const rewrapped = both.rewrap(sealed, 'p/c/credentials');
    expect(both.keyIdOf(rewrapped)).toBe('k2');
    expect(createVault(second).open(rewrapped, 'p/c/credentials')).toEqual({ token: 'a secret' });
  });

  test.each([',', '\n', ',\n'])('reads keys that stand apart by %j', (apart) => {
    const text = [generateMasterKey('k1'), generateMasterKey('k2')].join(apart);
    expect(parseMasterKeys(text).map(({ id }) => id)).toEqual(['k1', 'k2']);
  });

  test.each([
    '',
    'k1',
    'k1:short',
    `k1:${Buffer.alloc(31).toString('base64')}`,
    ':AAAA',
    `${generateMasterKey('a')},${generateMasterKey('a')}`,
  ])('refuses the key list %j', (text) => {
    expect(() => parseMasterKeys(text)).toThrow(/key/);
  });
});
