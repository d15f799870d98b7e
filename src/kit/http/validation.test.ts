import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Type } from 'typebox';
import { parseJson } from '../json.ts';
import { createLog } from '../log.ts';
import { createHttpServer, type HttpServer } from './server.ts';
import { compileCheck } from './validation.ts';

const Body = Type.Object({
  record: Type.Optional(Type.Record(Type.String(), Type.Unknown(), { maxProperties: 10 })),
  policy: Type.Optional(Type.Object({ hours: Type.Number() })),
  items: Type.Optional(Type.Array(Type.Object({}))),
  either: Type.Optional(Type.Union([Type.Object({}), Type.Number()])),
});

const numbers = ['1.50', '1e3', '12345678901234567890', '-0'];

describe('kit/http/validation', () => {
  let server: HttpServer;
  let origin: string;
  beforeAll(async () => {
    server = createHttpServer({
      log: createLog('silent'),
      bodyLimitBytes: 10 * 1024 * 1024,
      trustedProxies: [],
    });
    server.post('/any', { schema: { body: Body } }, async (request, reply) =>
      reply.type('application/json').send(JSON.stringify({ body: request.body })),
    );
    origin = await server.listen({ port: 0, host: '127.0.0.1' });
  });
  afterAll(() => server.close());

  async function sent(body: string): Promise<string> {
    const headers = { 'content-type': 'application/json' };
    return (await fetch(`${origin}/any`, { method: 'POST', headers, body })).text();
  }
  async function refusal(body: string): Promise<string> {
    return (JSON.parse(await sent(body)) as { detail: string }).detail;
  }

  test.each(['1', ...numbers])('%s is no object: not as the body, nor anywhere in it', async (number) => {
    expect(await refusal(number)).toBe('body: must be object; it is a number');
    expect(await refusal(`{"record":${number}}`)).toBe('record: must be object');
    expect(await refusal(`{"policy":${number}}`)).toBe('policy: must be object');
    expect(await refusal(`{"items":[{},${number}]}`)).toBe('items[1]: must be object');
    const large = `{"record":${number},"more":"${'x'.repeat(70_000)}"}`;
    expect(await refusal(large)).toBe('record: must be object');
  });

  test.each(numbers)('%s is taken as sent where anything may stand', async (number) => {
    const body = `{"record":{"a":${number},"b":[{"c":${number}}]}}`;
    expect(await sent(body)).toBe(`{"body":${body}}`);
    expect(await refusal(`{"record":{"a":${number}},"items":1}`)).toBe('items: must be array');
  });

  test('a number is taken where one is wanted, if it loses no digit', async () => {
    expect(await sent('{"policy":{"hours":1.50},"record":{"a":1.50}}')).toBe(
      '{"body":{"policy":{"hours":1.5},"record":{"a":1.50}}}',
    );
    expect(await sent('{"either":1.50}')).toBe('{"body":{"either":1.5}}');
    expect(await refusal('{"policy":{"hours":12345678901234567890}}')).toBe('policy.hours: must be number');
  });

  test.each(numbers)('%s is no object outside of HTTP either, and stays what it is', (number) => {
    const check = compileCheck(Body);
    expect(check(parseJson(number), 'body', 'content').issues).toEqual([
      { in: 'body', name: 'content', detail: 'must be object' },
    ]);
    const value = parseJson(`{"record":{"a":${number}}}`);
    expect(check(value, 'body').issues).toEqual([]);
    expect(JSON.stringify(value)).toBe(`{"record":{"a":${number}}}`);
  });

  test('names what may stand where something is missing, and where a property belongs', () => {
    const closed = { additionalProperties: false };
    const check = compileCheck(
      Type.Object(
        {
          mode: Type.Enum(['now', 'later']),
          unit: Type.Union([Type.Literal('s'), Type.Literal('ms')]),
          name: Type.String(),
          policy: Type.Optional(Type.Object({ allOrNone: Type.Optional(Type.Boolean()) }, closed)),
        },
        closed,
      ),
    );
    const said = check({ allOrNone: true }, 'body').issues.map(({ name, detail }) => `${name} ${detail}`);
    expect(said.toSorted()).toEqual([
      'allOrNone is not a known property here; it belongs in "policy"',
      'mode is required: "now" or "later"',
      'name is required',
      'unit is required: "s" or "ms"',
    ]);
  });

  test('counts what is too few and too many in words', () => {
    const check = compileCheck(
      Type.Object({
        batch: Type.Array(Type.Integer(), { minItems: 1, maxItems: 2 }),
        name: Type.String({ minLength: 1, maxLength: 3 }),
        labels: Type.Record(Type.String(), Type.String(), { maxProperties: 1 }),
      }),
    );
    const said = (value: unknown) =>
      check(value, 'body').issues.map(({ name, detail }) => `${name} ${detail}`);
    expect(said({ batch: [], name: '', labels: { a: 'b', c: 'd' } })).toEqual([
      'batch must have at least 1 item',
      'name must have at least 1 character',
      'labels must have at most 1 member',
    ]);
    expect(said({ batch: [1, 2, 3], name: 'four', labels: {} })).toEqual([
      'batch must have at most 2 items',
      'name must have at most 3 characters',
    ]);
  });
});
