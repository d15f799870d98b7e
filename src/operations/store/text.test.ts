import { describe, expect, it } from 'vitest';
import { storable, storableJson } from './text.ts';

describe('operations/text', () => {
  it('makes text storable that has a character the database cannot keep', () => {
    expect(storable('a\0b')).toBe('a\uFFFDb');
    expect(storableJson({ list: ['a\0b', 1], text: 'c\\u0000d' })).toBe(
      '{"list":["a\uFFFDb",1],"text":"c\\\\u0000d"}',
    );
  });
});
