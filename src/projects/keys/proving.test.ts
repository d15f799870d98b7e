import { beforeEach, describe, expect, it } from 'vitest';
import type { ApiKeyRecord } from './api-key-store.ts';
import { generateApiKey, hashSecret, parseApiKey } from './key-form.ts';
import { createProving } from './proving.ts';

describe('projects/keys/proving', () => {
  const records = new Map<string, ApiKeyRecord>();
  const used: string[] = [];
  const proving = createProving({ peek: (id) => records.get(id) }, { note: (id) => void used.push(id) }, 2);
  beforeEach(() => {
    records.clear();
    used.length = 0;
  });

  function make(): { key: string; record: ApiKeyRecord } {
    const { id, secret, key } = generateApiKey();
    const record: ApiKeyRecord = {
      id,
      project_id: 'p',
      project_name: 'default',
      secret_hash: hashSecret(secret),
      scopes: ['write'],
      group_ref: null,
      active: true,
    };
    records.set(id, record);
    return { key, record };
  }

  it('proves a key by the record that is remembered, and notes each use', () => {
    const { key, record } = make();
    const [first, second] = [proving.peek(key), proving.peek(key)];
    expect(first).toEqual({
      kind: 'apiKey',
      keyId: record.id,
      projectId: 'p',
      projectName: 'default',
      scopes: ['write'],
    });
    expect(second).toBe(first);
    expect(used).toEqual([record.id, record.id]);
  });

  it('knows no other secret of a key that was proven', () => {
    const { key, record } = make();
    expect(proving.peek(key)).toBeDefined();
    const other = generateApiKey();
    const parts = parseApiKey(other.key);
    expect(parts && proving.prove(other.key, { ...parts, id: record.id }, record)).toBeUndefined();
    expect(proving.peek(`${key}x`)).toBeUndefined();
  });

  it('proves a key again when its record was read again: it may say otherwise', () => {
    const { key, record } = make();
    expect(proving.peek(key)).toMatchObject({ scopes: ['write'] });
    records.set(record.id, { ...record, scopes: ['read'], group_ref: 'acme' });
    expect(proving.peek(key)).toMatchObject({ scopes: ['read'], groupRef: 'acme' });
    records.set(record.id, { ...record, active: false });
    expect(proving.peek(key)).toBeUndefined();
    records.set(record.id, { ...record, secret_hash: hashSecret('another') });
    expect(proving.peek(key)).toBeUndefined();
    records.delete(record.id);
    expect(proving.peek(key)).toBeUndefined();
  });

  it('forgets the oldest of more keys than it may remember, which are proven again', () => {
    const made = [make(), make(), make()];
    const [first] = made.map(({ key }) => proving.peek(key));
    const again = proving.peek(made[0]?.key ?? '');
    expect(again).toEqual(first);
    expect(again).not.toBe(first);
  });
});
