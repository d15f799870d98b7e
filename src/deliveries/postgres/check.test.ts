import { describe, expect, it } from 'vitest';
import { check, placeOf } from './check.ts';

const away = { production: true, isAllowed: () => false };
const atHome = { production: false, isAllowed: () => false };
const good = { url: 'postgresql://svc@db.example.com/warehouse', schema: 'crm' };

describe('src/deliveries/postgres/check', () => {
  it('reads a URL, and trusts no certificate unless told', () => {
    expect(placeOf('postgres://some%40one@DB.example.com:6543/my%20data?sslmode=require')).toEqual({
      host: 'db.example.com',
      port: 6543,
      user: 'some@one',
      database: 'my data',
      sslMode: 'require',
    });
    expect(placeOf(good.url)).toMatchObject({ port: 5432, sslMode: 'verify-full' });
    expect(placeOf('postgresql://u@[2001:db8::1]/d')).toMatchObject({ host: '2001:db8::1' });
    expect(check(good, away)).toEqual([]);
  });

  it.each([
    ['', /no URL/],
    ['db.example.com', /no URL/],
    ['mysql://svc@db.example.com/warehouse', /begins with mysql:/],
    ['postgresql://svc:hunter2@db.example.com/warehouse', /secrets\.password/],
    ['postgresql://svc@/warehouse', /no URL/],
    ['postgresql://svc@a,b/warehouse', /one host/],
    ['postgresql://svc@%2Ftmp/warehouse', /one host/],
    ['postgresql://svc@db:0/warehouse', /port 0/],
    ['postgresql://db.example.com/warehouse', /names no user/],
    ['postgresql://%E0%A4@db.example.com/warehouse', /names no user/],
    ['postgresql://svc@db.example.com', /names no database/],
    ['postgresql://svc@db.example.com/a/b', /names no database/],
    ['postgresql://svc@db.example.com/a%00b', /names no database/],
    ['postgresql://svc@db.example.com/a#b', /behind #/],
    ['postgresql://svc@db.example.com/a?host=/tmp', /parameter "host"/],
    ['postgresql://svc@db.example.com/a?options=-c%20x', /parameter "options"/],
    ['postgresql://svc@db.example.com/a?sslmode=prefer', /one of disable/],
    ['postgresql://svc@db.example.com/a?sslmode=require&sslmode=disable', /more than once/],
  ])('refuses the URL %s', (url, why) => {
    const issues = check({ ...good, url }, atHome);
    expect(issues).toEqual([
      { in: 'body', name: 'metadata.url', detail: expect.stringMatching(why) as string },
    ]);
    expect(JSON.stringify(issues)).not.toContain('hunter2');
  });

  it('refuses to send the data of customers in the clear', () => {
    const url = `${good.url}?sslmode=disable`;
    expect(check({ ...good, url }, atHome)).toEqual([]);
    expect(check({ ...good, url }, away)).toMatchObject([{ name: 'metadata.url' }]);
    const isAllowed = (host: string, port: number): boolean => host === 'db.example.com' && port === 5432;
    expect(check({ ...good, url }, { ...away, isAllowed })).toEqual([]);
  });

  it.each([
    [{ schema: 'pg_catalog' }, 'metadata.schema'],
    [{ schema: 'information_schema' }, 'metadata.schema'],
    [{ schema: '😀'.repeat(16) }, 'metadata.schema'],
    [{ schema: 'a\0' }, 'metadata.schema'],
    [{ tablePrefix: 'a\0' }, 'metadata.tablePrefix'],
  ])('refuses %j', (more, name) => {
    expect(check({ ...good, ...more }, away)).toMatchObject([{ name }]);
  });
});
