import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { generateApiKey, hashSecret, parseApiKey, secretFits } from './key-form.ts';

describe('src/projects/keys/key-form', () => {
  it('makes keys of the form of the contract that it can take apart again', () => {
    const { key, id, secret } = generateApiKey();
    expect(key).toMatch(/^svc_[0-9a-f]{16}_[A-Za-z0-9_-]{36}$/);
    expect(secret).toHaveLength(30);
    expect(parseApiKey(key)).toEqual({ id, secret });
  });

  it('makes another key each time', () => {
    expect(new Set(Array.from({ length: 200 }, () => generateApiKey().key)).size).toBe(200);
  });

  it('refuses a key with one character changed', () => {
    const { key } = generateApiKey();
    fc.assert(
      fc.property(
        fc.nat({ max: key.length - 1 }),
        fc.constantFrom('a', 'b', 'X', 'Z', '0', '9', '_', '-'),
        (at, character) => {
          fc.pre(key[at] !== character);
          expect(parseApiKey(key.slice(0, at) + character + key.slice(at + 1))).toBeUndefined();
        },
      ),
    );
  });

  it.each([
    '',
    'svc_',
    'Bearer x',
    `${generateApiKey().key} `,
    `${generateApiKey().key},${generateApiKey().key}`,
  ])('refuses %j', (text) => {
    expect(parseApiKey(text)).toBeUndefined();
  });

  it('knows a secret by its hash only', () => {
    const { secret } = generateApiKey();
    expect(secretFits(secret, hashSecret(secret))).toBe(true);
    expect(secretFits(generateApiKey().secret, hashSecret(secret))).toBe(false);
    expect(secretFits(secret, Buffer.alloc(0))).toBe(false);
  });
});
