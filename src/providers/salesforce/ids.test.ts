import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalId, idForms } from './ids.ts';

describe('src/providers/salesforce/ids', () => {
  it.each([
    ['001A0000006Vm9r', '001A0000006Vm9rIAC'],
    ['0015g00000DklQA', '0015g00000DklQAAAZ'],
    ['000000000000000', '000000000000000AAA'],
    ['ABCDEFGHIJKLMNO', 'ABCDEFGHIJKLMNO555'],
  ])('gives %s its checksum', (short, long) => {
    expect(canonicalId(short)).toBe(long);
    expect(canonicalId(long)).toBe(long);
    expect(canonicalId(long.toLowerCase())).toBe(long);
    expect(canonicalId(long.toUpperCase())).toBe(long);
  });

  it('gives both forms of an id, and none of what is no id', () => {
    const forms = ['001A0000006Vm9rIAC', '001A0000006Vm9r'];
    for (const form of [...forms, '001a0000006vm9riac']) expect(idForms(form)).toEqual(forms);
    expect(idForms('acme')).toEqual([]);
  });

  it('leaves alone what is no record id', () => {
    for (const text of [
      '',
      '123',
      'a'.repeat(16),
      'a'.repeat(17),
      'a'.repeat(19),
      '001A0000006Vm9r999',
      '001-0000006Vm9r',
    ])
      expect(canonicalId(text)).toBe(text);
  });

  it('keeps ids apart that differ, also by case alone', () => {
    const id = fc.stringMatching(/^[A-Za-z0-9]{15}$/);
    fc.assert(
      fc.property(id, id, (one, other) => {
        expect(canonicalId(one) === canonicalId(other)).toBe(one === other);
        expect(canonicalId(canonicalId(one))).toBe(canonicalId(one));
      }),
    );
  });
});
