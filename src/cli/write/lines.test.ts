import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { readLines, type KeyGround } from './lines.ts';

const ground: KeyGround = {
  project: 'default',
  integration: 'hubspot-crm',
  object: 'contacts',
  group: 'acme',
  type: 'create',
  mode: 'synchronous',
};

describe('cli/write/lines', () => {
  it('tells of a line that is not JSON no other line than its own', async () => {
    const input = Readable.from([Buffer.from('{"email":"a@example.com"}\n{email: 1}\n')]);
    const faults: unknown[] = [];
    for await (const { number, fault } of readLines(input, async () => ground, new AbortController().signal))
      faults.push([number, fault]);
    expect(faults).toEqual([
      [1, undefined],
      [2, expect.stringMatching(/^it is not JSON: .* at position 1$/)],
    ]);
  });
});
