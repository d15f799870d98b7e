import { describe, expect, test } from 'vitest';
import { misdirected, readProxyCall } from './request.ts';

const project = '01890000-0000-7000-8000-00000000a001';
const installation = '01890000-0000-7000-8000-00000000b002';
const base = ['X-Api-Key', 'k', 'x-svc-proxy-version', '1', 'x-svc-project-id', project];

const head = (rawHeaders: string[], httpVersion = '1.1') => ({
  rawHeaders: ['Host', 'x', ...rawHeaders],
  httpVersion,
});

function codeOf(target: string, headers: string[]): string | undefined {
  const read = readProxyCall(target, head(headers));
  return 'refusal' in read ? read.refusal.code : undefined;
}

function names(headers: string[], target = '/x'): string[] {
  const read = readProxyCall(target, head(headers));
  return 'refusal' in read ? (read.refusal.details.issues ?? []).map(({ name }) => name) : [];
}

describe('actions/proxy/request', () => {
  test('§4.6 takes an installation id', () => {
    expect(readProxyCall('/x', head([...base, 'x-svc-installation-id', installation]))).toEqual({
      call: { apiKey: 'k', projectId: project, selector: { installationId: installation }, throttle: false },
    });
  });

  test('takes ids in capitals, as they are stored', () => {
    const capitals = base.map((one) => (one === project ? project.toUpperCase() : one));
    const read = readProxyCall(
      '/x',
      head([...capitals, 'x-svc-installation-id', installation.toUpperCase()]),
    );
    expect(read).toMatchObject({ call: { projectId: project, selector: { installationId: installation } } });
  });

  test('refuses another version of HTTP, and chunks in 1.0', () => {
    const all = [...base, 'x-svc-installation-id', installation];
    const refused = (version: string, more: string[] = []) => {
      const read = readProxyCall('/x', head([...all, ...more], version));
      return 'refusal' in read ? read.refusal.details.issues?.map(({ name }) => name) : [];
    };
    expect(refused('1.0')).toEqual([]);
    expect(refused('2.0')).toEqual(['version']);
    expect(refused('1.0', ['Transfer-Encoding', 'chunked'])).toEqual(['transfer-encoding']);
  });

  test('a call to a path of the API without any header of the proxy is told the port of the API', () => {
    const remedyOf = (target: string, rawHeaders: string[]): string => {
      const read = readProxyCall(target, head(rawHeaders));
      if (!('refusal' in read)) throw new Error('it was taken');
      const { details, kind } = misdirected(read.refusal, target, {
        rawHeaders,
        apiUrl: 'https://svc.example',
      });
      return details.remedy ?? kind.remedy;
    };
    for (const path of ['/v1/projects', '/write/v1/projects/default/integrations/crm/objects/contacts'])
      for (const headers of [
        ['X-Api-Key', 'k'],
        ['Authorization', 'Bearer k'],
      ])
        expect(remedyOf(path, headers)).toContain('the API answers at https://svc.example');
    expect(remedyOf('/crm/v3/objects/contacts', ['X-Api-Key', 'k'])).not.toContain('svc.example');
    expect(remedyOf('/v1/charges', base)).not.toContain('svc.example');
  });

  test('a target with a fragment is refused: what the proxy adds to the query would stand in it', () => {
    const headers = [...base, 'x-svc-installation-id', installation];
    expect(names(headers, '/x?a#b')).toEqual(['target']);
    expect(names(headers, '/x?a=%23b')).toEqual([]);
  });

  test('§4.6 x-svc-rate-limiter-mode is throttle or not sent', () => {
    const mode = (...values: string[]): string[] => [
      ...base,
      'x-svc-installation-id',
      installation,
      ...values.flatMap((value) => ['X-Svc-Rate-Limiter-Mode', value]),
    ];
    expect(readProxyCall('/x', head(mode('throttle')))).toMatchObject({ call: { throttle: true } });
    for (const wrong of ['', 'on', 'Throttle', 'throttle, throttle'])
      expect(names(mode(wrong))).toEqual(['x-svc-rate-limiter-mode']);
    expect(codeOf('/x', mode('throttle', 'throttle'))).toBe('proxy-request-invalid');
  });

  test('a transfer coding that the next hop would not know is refused', () => {
    const coded = (value: string): string[] => [
      ...base,
      'x-svc-installation-id',
      installation,
      'Transfer-Encoding',
      value,
    ];
    expect(readProxyCall('/x', head(coded('Chunked')))).toHaveProperty('call');
    expect(names(coded('gzip, chunked'))).toEqual(['transfer-encoding']);
    expect(codeOf('/x', [...coded('chunked'), 'Transfer-Encoding', 'chunked'])).toBe('proxy-request-invalid');
  });

  test('§4.6 takes an integration name with a group', () => {
    expect(
      readProxyCall('/x', head([...base, 'x-svc-integration-name', 'crm', 'x-svc-group-ref', 'g'])),
    ).toMatchObject({
      call: { selector: { integration: 'crm', groupRef: 'g' } },
    });
  });

  test('§4.6 uses the installation id when all three are given', () => {
    const all = [
      ...base,
      'x-svc-integration-name',
      'crm',
      'x-svc-group-ref',
      'g',
      'x-svc-installation-id',
      installation,
    ];
    expect(readProxyCall('/x', head(all))).toMatchObject({
      call: { selector: { installationId: installation } },
    });
  });

  test('§4.6 refuses a missing or other version, a project name, a missing selector', () => {
    const selector = ['x-svc-installation-id', installation];
    expect(names(['x-api-key', 'k', 'x-svc-project-id', project, ...selector])).toEqual([
      'x-svc-proxy-version',
    ]);
    expect(
      names(['x-api-key', 'k', 'x-svc-proxy-version', '2', 'x-svc-project-id', project, ...selector]),
    ).toEqual(['x-svc-proxy-version']);
    expect(
      names(['x-api-key', 'k', 'x-svc-proxy-version', '1', 'x-svc-project-id', 'default', ...selector]),
    ).toEqual(['x-svc-project-id']);
    expect(names(base)).toEqual(['x-svc-integration-name']);
    expect(names([...base, 'x-svc-integration-name', 'crm'])).toEqual(['x-svc-group-ref']);
  });

  test('refuses a repeated control header, which could mean two things', () => {
    expect(codeOf('/x', [...base, 'X-API-KEY', 'other', 'x-svc-installation-id', installation])).toBe(
      'proxy-request-invalid',
    );
  });

  test('§5 asks for the key and ignores the caller’s Authorization', () => {
    expect(codeOf('/x', ['Authorization', 'Bearer k', 'x-svc-proxy-version', '1'])).toBe('unauthenticated');
  });

  test.each(['*', 'http://evil/x', 'https:evil', '@evil/x', ':80@evil/', '?q=1', '\\\\evil/x'])(
    'refuses the target %s',
    (target) => {
      expect(codeOf(target, [...base, 'x-svc-installation-id', installation])).toBe('proxy-request-invalid');
    },
  );
});
