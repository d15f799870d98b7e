import { Value } from 'typebox/value';
import { describe, expect, it } from 'vitest';
import { eventKinds, eventTypes, sentenceOf } from './event-kinds-schema.ts';

describe('src/events/event-kinds-schema', () => {
  it.each(eventTypes)('%s has a sample that is what its schema says, and a sentence of it', (type) => {
    const { data, sample } = eventKinds[type];
    expect([...Value.Errors(data, sample)]).toEqual([]);
    const sentence = sentenceOf(type, JSON.parse(JSON.stringify(sample)));
    expect(sentence).toMatch(/^[[A-Z\w].{15,200}$/);
    expect(sentence).not.toMatch(/undefined|\[object/);
    expect(sentence).toMatch(/acme|Acme Inc\.|inbox/);
  });

  it('a write says how many records it wrote, and why the others were not', () => {
    const { sample } = eventKinds['write.async.done'];
    expect(sentenceOf('write.async.done', sample)).toBe(
      '[contacts] A write of Acme Inc. ended: 1 written, 1 failed: validation: Property values were not valid',
    );
    const whole = { ...sample, success: true, errors: [] };
    expect(sentenceOf('write.async.done', whole)).toBe('[contacts] A write of Acme Inc. ended: 1 written.');
  });
});
