import { describe, expect, it } from 'vitest';
import { Problem } from './problem.ts';
import { readMask, splitMaskPath } from './update-mask.ts';

function refusalOf(work: () => unknown): Problem {
  try {
    work();
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
  throw new Error('nothing was refused');
}

describe('src/kit/update-mask', () => {
  const patterns = ['label', 'config.content.write.objects', 'config.content.write.objects.*'];

  it('gives the values that the mask names and ignores the others', () => {
    const values = readMask(['label'], patterns, { label: 'a', config: { content: {} } });
    expect([...values]).toEqual([['label', 'a']]);
  });

  it('takes false, null and empty values for values', () => {
    expect(readMask(['label'], patterns, { label: false }).get('label')).toBe(false);
    expect(readMask(['label'], patterns, { label: null }).get('label')).toBeNull();
  });

  it('lets a star stand for one segment, in which dots and colons are escaped', () => {
    const mask = String.raw`config.content.write.objects.a\.b\:c`;
    const resource = { config: { content: { write: { objects: { 'a.b:c': { objectName: 'x' } } } } } };
    expect(readMask([mask], patterns, resource).get(mask)).toEqual({ objectName: 'x' });
    expect(splitMaskPath(mask).at(-1)).toBe('a.b:c');
  });

  it('refuses a mask that no pattern allows, and lists those that are', () => {
    const refusal = refusalOf(() => readMask(['label', 'secret'], patterns, { label: 'a', secret: 'b' }));
    expect(refusal.status).toBe(400);
    expect(refusal.details.issues).toEqual([
      { in: 'body', name: 'updateMask[1]', detail: 'is not a field that can be changed', value: 'secret' },
    ]);
    expect(refusal.details.remedy).toContain('config.content.write.objects.*');
  });

  it('refuses a mask without a value', () => {
    const refusal = refusalOf(() => readMask(['label'], patterns, {}, 'apiKey'));
    expect(refusal.status).toBe(400);
    expect(refusal.details.issues?.[0]?.detail).toContain('`apiKey`');
  });

  it.each([
    ['an empty mask', [], { label: 'a' }],
    [
      'an empty segment under a star',
      ['config.content.write.objects.'],
      { config: { content: { write: { objects: { '': 1 } } } } },
    ],
    [
      'an entry of an array',
      ['config.content.write.objects.0'],
      { config: { content: { write: { objects: [1] } } } },
    ],
    [
      'an inherited property',
      ['config.content.write.objects.constructor'],
      { config: { content: { write: { objects: {} } } } },
    ],
  ])('refuses %s', (_name, mask, resource) => {
    expect(refusalOf(() => readMask(mask, patterns, resource)).status).toBe(400);
  });
});
