import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');

/** What may be imported as a value from the modules that could dial. */
const harmless: Record<string, readonly string[]> = {
  'node:http': ['createServer', 'STATUS_CODES'],
  'node:net': ['createServer', 'isIP'],
  '@cloudamqp/amqp-client/amqp-view': ['AMQPView'],
  pg: ['DatabaseError', 'escapeIdentifier', 'escapeLiteral'],
};
const dialing =
  /^(node:)?(https?|http2|net|tls|dgram|dns|dns\/promises)$|^(undici|ws|axios|got|node-fetch|pg)$/;

/** Who dials, or could, beside kit/http, and why that is right. */
const exempt: Record<string, { from: string; why: string }> = {
  'actions/proxy/native.ts': { from: 'node:http', why: 'speaks HTTP on a socket that the door dialled' },
  'deliveries/postgres/session.ts': {
    from: 'pg',
    why: 'speaks with a database on a socket that the door dialled',
  },
  'deliveries/amqp/wire.ts': {
    from: '@cloudamqp/amqp-client/amqp-base-client',
    why: 'speaks with a broker on a socket that the door dialled; this part of the driver opens none',
  },
  'deliveries/s3/put.ts': {
    from: '@aws-sdk/client-s3',
    why: 'gives the SDK a handler that calls by the door',
  },
};

/** On the machine of a builder, who calls whom he names. */
const ofBuilders = 'cli/';

interface Import {
  from: string;
  names: string[];
}

/** They dial the database that the operator names; nothing from outside says where that is. */
const ownDatabase = /^kit\/db\//;

/** Imports of values, of each form there is; a type dials nothing. */
function importsOf(text: string): Import[] {
  const named = [...text.matchAll(/^(?:import|export)(?!\s+type\b)([^;]*?)\bfrom\s+'([^']+)'/gms)].map(
    ([, names = '', from = '']) => ({
      from,
      names: names
        .replaceAll(/[{}\n]/g, ' ')
        .split(',')
        .map((name) => name.trim())
        .filter((name) => name !== '' && !name.startsWith('type '))
        .map((name) => name.split(' as ')[0] ?? name),
    }),
  );
  const whole = [...text.matchAll(/(?:\bimport|\brequire)\s*\(?\s*'([^']+)'/g)];
  return [...named, ...whole.map(([, from = '']) => ({ from, names: ['*'] }))];
}

/** What in a file could open a connection past the door. */
function faultsOf(file: string, text: string): string[] {
  const imports = importsOf(text)
    .filter(({ from, names }) => dialing.test(from) && names.length > 0)
    .filter(({ from, names }) => !names.every((name) => harmless[from]?.includes(name)))
    .filter(({ from }) => exempt[file]?.from !== from && !(from === 'pg' && ownDatabase.test(file)))
    .map(({ from, names }) => `${file} imports ${names.join(', ')} of ${from}`);
  const globals = [
    ...text.matchAll(/(?<![.\w'`])(?:globalThis\.)?(fetch|WebSocket|EventSource|XMLHttpRequest)\s*\(/g),
  ];
  return [...imports, ...globals.map(([, name]) => `${file} calls ${name}`)];
}

describe('src/kit/http/one-door', () => {
  const files = globSync('**/*.ts', { cwd: root })
    .filter(
      (file) =>
        !/\.(test|testsuite|fixture)\.ts$/.test(file) &&
        !file.startsWith('kit/http/') &&
        !file.startsWith(ofBuilders),
    )
    .map((file): [string, string] => [file, readFileSync(join(root, file), 'utf8')]);

  test('nothing but kit/http opens a connection', () => {
    expect(files.length).toBeGreaterThan(150);
    expect(files.flatMap(([file, text]) => faultsOf(file, text))).toEqual([]);
  });

  test('every exemption is still needed', () => {
    for (const [name, { from }] of Object.entries(exempt)) {
      const text = files.find(([file]) => file === name)?.[1] ?? '';
      expect([name, importsOf(text).some((each) => each.from === from)]).toEqual([name, true]);
    }
  });

  test('what speaks on a dialled socket opens none itself', () => {
    const text = files.find(([file]) => file === 'actions/proxy/native.ts')?.[1] ?? '';
    expect(text.match(/openRequest\(/g)).toHaveLength(1);
    expect(text).toContain('createConnection: () => socket');
    const session = files.find(([file]) => file === 'deliveries/postgres/session.ts')?.[1] ?? '';
    expect(session.match(/new (Client|Pool)\(/g)).toEqual(['new Client(']);
    expect(session).toContain('stream: () => connected');
    const put = files.find(([file]) => file === 'deliveries/s3/put.ts')?.[1] ?? '';
    expect(put.match(/new S3Client\(.*/g)).toEqual([
      'new S3Client({ ...settingsOf(store), requestHandler });',
    ]);
  });

  test.each([
    "import { request } from 'node:https';",
    "import { createServer, request as ask } from 'node:http';",
    "import http from 'node:http';",
    "import * as net from 'node:net';",
    "import { connect } from 'net';",
    "import { fetch } from 'undici';",
    "import { type Dispatcher, Agent } from 'undici';",
    "export { request } from 'undici';",
    "import { lookup } from 'node:dns';",
    "const { connect } = await import('node:tls');",
    "const net = require('node:net');",
    'const answer = await fetch(url);',
    'globalThis.fetch (url)',
    'new WebSocket(url)',
    "import { Client } from 'pg';",
  ])('sees %s (the negative control)', (text) => {
    expect(faultsOf('x.ts', text)).toHaveLength(1);
  });

  test.each([
    "import type { Socket } from 'node:net';",
    "import { type Dispatcher } from 'undici';",
    "import { createServer, type Server } from 'node:http';",
    'store.fetch(id)',
  ])('has nothing against %s', (text) => {
    expect(faultsOf('x.ts', text)).toEqual([]);
  });
});
