import { describe, expect, it } from 'vitest';
import { createLog } from '../../kit/log.ts';
import { createMetrics } from '../../kit/metrics.ts';
import { problem, type Problem } from '../../kit/problem.ts';
import { createFailureGuard } from './failures.ts';

describe('src/projects/auth/failures', () => {
  function open(perMinute: number) {
    const lines: Record<string, unknown>[] = [];
    const metrics = createMetrics();
    const log = createLog('warn', {
      destination: { write: (line) => lines.push(JSON.parse(line) as Record<string, unknown>) },
    });
    const guard = createFailureGuard({ log, metrics }, perMinute);
    const fail = (address: string): string =>
      (
        guard.judge(problem('unauthenticated', { detail: 'no such key' }), {
          surface: 'management',
          address: () => address,
        }) as Problem
      ).code;
    return { lines, metrics, fail, guard };
  }

  it('slows one address down and no other; hosts of one IPv6 network are one', () => {
    const { fail } = open(3);
    const codes = Array.from({ length: 5 }, () => fail('192.0.2.1'));
    expect(codes).toEqual([...Array(3).fill('unauthenticated'), ...Array(2).fill('too-many-failures')]);
    expect(fail('192.0.2.2')).toBe('unauthenticated');
    for (let host = 1; host <= 3; host += 1) expect(fail(`2001:db8::${host}`)).toBe('unauthenticated');
    expect(fail('2001:db8::4')).toBe('too-many-failures');
    expect(fail('2001:db8:0:1::4')).toBe('unauthenticated');
  });

  it('lets an address fail again as time goes on', async () => {
    const { fail } = open(60);
    for (let time = 0; time < 60; time += 1) fail('192.0.2.1');
    expect(fail('192.0.2.1')).toBe('too-many-failures');
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    expect(fail('192.0.2.1')).toBe('unauthenticated');
  });

  it('counts all, and writes one line for an address and sixty in all', async () => {
    const { fail, lines, metrics } = open(10);
    for (let time = 0; time < 100; time += 1) fail('192.0.2.1');
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatchObject({ address: '192.0.2.1', failures: 1, reason: 'no such key' });
    for (let host = 0; host < 20_000; host += 1) fail(`10.0.${host >> 8}.${host & 255}`);
    expect(lines.length).toBeLessThan(120);
    const text = await metrics.registry.metrics();
    expect(text).toContain('svc_authentication_failures_total{surface="management",answer="refused"} 20010');
    expect(text).toContain('svc_authentication_failures_total{surface="management",answer="slowed"} 90');
  });

  it('passes what is no refusal of credentials', () => {
    const { guard } = open(1);
    const away = problem('database-unavailable');
    expect(guard.judge(away, { surface: 'proxy', address: () => '192.0.2.1' })).toBe(away);
  });
});
