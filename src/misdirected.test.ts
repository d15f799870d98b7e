import { describe, expect, it } from 'vitest';
import { remedyOfUnknownPath } from './misdirected.ts';

const object = '/projects/default/integrations/crm/objects/contacts';

describe('src/misdirected', () => {
  it.each([
    ['a proxied call', { url: '/crm/v3/objects', headers: { 'x-svc-proxy-version': '1' } }, 'proxy: 4001'],
    ['a write below /v1', { url: `/v1${object}?dry=1` }, `/write/v1${object}, and`],
    ['any other path', { url: '/v1/projcts' }, 'nothing'],
    ['another method', { url: `/v1${object}`, method: 'GET' }, 'nothing'],
  ])('%s', (_what, asked, remedy) => {
    const found = remedyOfUnknownPath({ method: 'POST', headers: {}, ...asked }, 4001);
    expect(found ?? 'nothing').toContain(remedy);
  });
});
