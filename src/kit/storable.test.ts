import { describe, expect, it } from 'vitest';
import { storable, storableJson } from './storable.ts';

describe('kit/storable', () => {
  it('makes text storable that has a character the database cannot keep', () => {
    expect(storable('a\0b')).toBe('a\uFFFDb');
    expect(storableJson({ list: ['a\0b', 1], text: 'c\\u0000d' })).toBe(
      '{"list":["a\uFFFDb",1],"text":"c\\\\u0000d"}',
    );
  });

  it('makes halves of surrogate pairs storable, and leaves whole characters', () => {
    expect(storable('half \ud83d, whole 😀')).toBe('half \uFFFD, whole 😀');
    expect(storableJson({ text: 'half \ud83d, whole 😀, \\ud83d' })).toBe(
      '{"text":"half \uFFFD, whole 😀, \\\\ud83d"}',
    );
  });
});
