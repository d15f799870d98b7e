import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { slowness } from '../../test/slowness.ts';
import { readContent } from './content.ts';
import { openFile, sealFile } from './envelope.ts';
import './index.ts';

/** For how long one step may hold the event loop, in milliseconds of a processor that is not slowed. */
const mostMs = 100;
/** The best attempt counts: other work on the machine takes the processor away in some of them. */
const attempts = 10;
const passphrase = 'correct horse battery staple';
const head = {
  format: 'svc-project',
  version: 2,
  project: 'default',
  createTime: '2026-01-01T00:00:00Z',
  moved: false,
  counts: {},
} as const;
const bytes = 95 * 1024 * 1024;
const filled = (text: string, length = bytes): string => text.repeat(Math.floor(length / text.length));
const id = (index: number): string => `01920000-0000-7000-8000-${String(index).padStart(12, '0')}`;
const created_at = '2026-01-01T00:00:00Z';
const uniform = (kind: string, count: number, row: (index: number) => object): string =>
  JSON.stringify({
    [kind]: Array.from({ length: count }, (_, index) => ({ row: JSON.stringify(row(index)) })),
  });
const members = (count: number): object =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`unknown${index}`, index]));

interface Read {
  issue?: { name: string; detail: string } | undefined;
  held: number;
}

async function read(text: string): Promise<Read> {
  const file = await sealFile(head, text, passphrase);
  if (!file) throw new Error('the file is too large');
  let least: Read = { held: Infinity };
  for (let attempt = 1; attempt <= attempts && least.held > mostMs; attempt += 1) {
    const delay = monitorEventLoopDelay({ resolution: 1 });
    delay.enable();
    await sleep(20);
    delay.reset();
    let issue: Read['issue'];
    try {
      const opened = await openFile(file, passphrase);
      if (opened === undefined) throw new Error('the file did not open');
      await readContent(opened);
    } catch (error) {
      [issue] =
        (error as { details?: { issues?: { name: string; detail: string }[] } }).details?.issues ?? [];
      if (!issue) throw error;
    }
    await sleep(5);
    delay.disable();
    const held = delay.max / 1e6 / slowness();
    if (held < least.held) least = { issue, held };
  }
  return least;
}

describe('transfer/held', { timeout: 120_000 }, () => {
  it.each<[what: string, text: () => string, name: string, detail: string]>([
    ['objects without end', () => `[${filled('{},')}{}]`, '', 'must be object'],
    ['objects with an index', () => `[${filled('{"34":0},')}0]`, '', 'must be object'],
    ['lists that nest', () => filled('['), '', 'must be object'],
    ['rows that are none', () => `{"groups":[${filled('{},')}{}]}`, 'groups[0].row', 'is required'],
    ['a row that does not end', () => `{"groups":[{"row":"${filled('\\"')}`, 'groups[0]', 'is larger than'],
    [
      'a secret of many values',
      () => `{"groups":[{"row":"{}","secret":[${filled('{},', 3e6)}0]}]}`,
      'groups[0]',
      'holds more than 5000 values',
    ],
    [
      'a row of many values',
      () => `{"groups":[{"row":"[${filled('{},', 3e6)}0]"}]}`,
      'groups[0].row',
      'holds more than 50000 values',
    ],
    [
      'a row that nests',
      () => `{"groups":[{"row":"${filled('[', 3e6)}"}]}`,
      'groups[0].row',
      'is nested deeper',
    ],
    [
      'unknown columns',
      () => uniform('groups', 1, () => members(49_000)),
      'groups[0].group_ref',
      'is required',
    ],
    [
      'unknown members of a config',
      () => uniform('configs', 20, () => ({ content: { provider: 'hubspot', read: members(49_000) } })),
      'configs[0].installation_id',
      'is required',
    ],
    [
      'unknown members of a revision',
      () => uniform('revisions', 20, () => ({ content: { read: { objects: [members(49_000)] } } })),
      'revisions[0].integration_id',
      'is required',
    ],
    [
      'many members below a long name',
      () => uniform('configs', 1, () => ({ content: { ['k'.repeat(1_000_000)]: members(49_000) } })),
      'configs[0].row',
      'has paths of more than',
    ],
    [
      'texts that cannot be kept',
      () => uniform('groups', 20, () => ({ name: Array.from({ length: 24_000 }, () => '\0') })),
      'groups[0].name[0]',
      'holds a character that cannot be kept',
    ],
    ['a kind that is none', () => `{"widgets":[${filled('{},')}{}]}`, 'widgets', 'is not a known property'],
    ['a kind that is none of many bytes', () => `{"${filled('w')}":[]}`, 'file', 'is not JSON'],
    ['a kind that is there twice', () => '{"groups":[],"groups":[]}', 'groups', 'is there twice'],
    ['blanks', () => `{"groups":${filled(' ')}[]}`, 'file', 'holds more than'],
    ['something after the end', () => '{"groups":[]}]', 'file', 'is not JSON'],
    [
      'more rows than there may be',
      () =>
        uniform('groups', 20_001, (index) => ({
          group_ref: `g${index}`,
          name: 'G',
          created_at,
          updated_at: created_at,
        })),
      'groups',
      'must not have more than 20000 rows',
    ],
  ])('%s are refused, and hold up nobody', async (_what, text, name, detail) => {
    const { issue, held } = await read(text());
    expect(issue).toMatchObject({ name, detail: expect.stringContaining(detail) as string });
    expect(held).toBeLessThan(mostMs);
  });

  it('as many rows and bytes as an export may have hold up nobody', async () => {
    const rows = JSON.stringify({
      groups: Array.from({ length: 20_000 }, (_, index) => ({
        row: JSON.stringify({
          group_ref: `g${index}`,
          name: `"${'é'.repeat(200)}"`,
          created_at,
          updated_at: created_at,
        }),
      })),
      configs: Array.from({ length: 20_000 }, (_, index) => ({
        row: JSON.stringify({
          installation_id: id(index),
          id: id(index),
          revision_id: id(0),
          created_by: 'consumer:ada',
          content: {
            provider: 'hubspot',
            read: {
              objects: {
                contacts: {
                  objectName: 'contacts',
                  selectedFields: Object.fromEntries(
                    Array.from({ length: 120 }, (_u, at) => [`field_of_many_${at}`, true]),
                  ),
                },
              },
            },
          },
          created_at,
        }),
      })),
    });
    const { issue, held } = await read(rows);
    expect(issue).toBeUndefined();
    expect(held).toBeLessThan(mostMs);
  });
});
