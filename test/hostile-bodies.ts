/** Bodies that are meant to hold up whoever reads them. */
export interface HostileBody {
  what: string;
  body: string | Buffer;
}

const mebibyte = 1024 * 1024;

const filled = (text: string, bytes: number): string => text.repeat(Math.floor(bytes / text.length));
const members = (count: number, member: (index: number) => string): string =>
  `{${Array.from({ length: count }, (_, index) => member(index)).join(',')}}`;

/** For any endpoint: `bytes` of each kind, and as many values as are read at all. */
export function hostileBodies(bytes: number, values: number): HostileBody[] {
  const longText = filled('a"\\é', bytes / 3);
  return [
    { what: 'numbers that are kept as text', body: `[${filled('1.0,', bytes)}1]` },
    { what: 'as many of them as are read', body: `{"a":[${filled('1.0,', 4 * values)}1]}` },
    { what: 'huge numbers', body: `{"a":[${filled(`${'9'.repeat(1_000)}e9,`, bytes)}1]}` },
    { what: 'one number', body: `{"a":${'9'.repeat(bytes)}}` },
    { what: 'nested lists', body: filled('[', bytes) },
    { what: 'nested lists that close', body: `${filled('[', bytes / 2)}1.5${filled(']', bytes / 2)}` },
    { what: 'nested objects', body: filled('{"a":', bytes) },
    { what: 'unknown properties', body: members(bytes / 20, (index) => `"unknown${index}":${index}`) },
    { what: 'as many as are read', body: members(values, (index) => `"unknown${index}":${index}`) },
    { what: 'exact numbers by name', body: members(values, (index) => `"n${index}":${index}.50`) },
    { what: 'names that are long', body: members(10, (index) => `"${index}${'n'.repeat(bytes / 11)}":1`) },
    { what: 'a long text', body: JSON.stringify({ a: longText }) },
    { what: 'escapes', body: `{"a":"${filled('\\u0041', bytes)}"}` },
    {
      what: 'no UTF-8 at its end',
      body: Buffer.concat([Buffer.from(filled('é', bytes)), Buffer.from([0xff])]),
    },
    { what: 'blanks', body: filled(' ', bytes) },
  ];
}

/** For the config of an installation. */
export function hostileConfigs(): Record<string, unknown>[] {
  const fields = <Value>(count: number, value: (index: number) => Value): Record<string, Value> =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`field_${index}_of_many`, value(index)]));
  const write = (object: object) => ({ provider: 'hubspot', write: { objects: { contacts: object } } });
  const read = (object: object) => ({ provider: 'hubspot', read: { objects: { contacts: object } } });
  return [
    // Each has a name that is nearly one of the provider's.
    read({ objectName: 'contacts', selectedFields: fields(5_000, () => true) }),
    read({ objectName: 'contacts', selectedFieldMappings: fields(5_000, (index) => `hs_emai${index}`) }),
    write({
      objectName: 'contacts',
      selectedFieldSettings: fields(5_000, () => ({ writeOnCreate: 'sometimes' })),
    }),
    write({ objectName: 'contacts', selectedValueDefaults: fields(5_000, () => ({ value: [] })) }),
    { provider: 'hubspot', write: { objects: fields(500, (index) => ({ objectName: `contact${index}` })) } },
    {
      provider: 'hubspot',
      write: { objects: fields(8_000, (index) => ({ objectName: `contact${index}` })) },
    },
    read({ objectName: 'contacts', fieldFilters: Array.from({ length: 9_000 }, () => ({ value: {} })) }),
    read({ objectName: 'contacts', schedule: '0 '.repeat(400_000), selectedFieldsAuto: 'all' }),
    {
      provider: 'hubspot',
      read: { objects: fields(500, (index) => ({ objectName: `o${index}`, schedule: '0 0 29 2 *' })) },
    },
  ];
}

/** Changes of a large object config, one after another. */
export function hostilePatches(): unknown[] {
  const large = Object.fromEntries(
    Array.from({ length: 4_900 }, (_, index) => [`field_${index}_of_many`, true]),
  );
  const whole = {
    op: 'add',
    path: '',
    value: { objectName: 'contacts', selectedFields: large, list: Object.keys(large) },
  };
  const each = (change: (index: number) => object) => [
    whole,
    ...Array.from({ length: 999 }, (_, index) => change(index)),
  ];
  return [
    each((index) => ({ op: 'replace', path: `/selectedFields/field_${index}_of_many`, value: false })),
    each((index) => ({ op: 'add', path: '/list/0', value: { index } })),
    each(() => ({ op: 'remove', path: '/list/0' })),
    each(() => ({ op: 'replace', path: `/selectedFields${'/a'.repeat(1_500)}`, value: 1 })),
  ];
}

/** Manifests that unfold, nest or fail without end. */
export function hostileManifests(): HostileBody[] {
  const bytes = 0.9 * mebibyte;
  const aliases = Array.from(
    { length: 20 },
    (_, index) => `a${index + 1}: &a${index + 1} [*a${index}, *a${index}, *a${index}, *a${index}]`,
  );
  const integration = (index: number) =>
    `  - { name: int${index}, provider: hubspt, proxy: { enabledd: true } }\n`;
  const fields = (index: number) => `            - { fieldName: f${index}, mapToName: F${index % 2} }\n`;
  const head = 'specVersion: 1.0.0\nintegrations:\n';
  const list = (count: number, entry: (index: number) => string) =>
    Array.from({ length: count }, (_, index) => entry(index)).join('');
  return [
    { what: 'aliases of aliases', body: `a0: &a0 [x, x, x, x]\n${aliases.join('\n')}\n` },
    { what: 'nested lists', body: filled('[', bytes) },
    { what: 'nested keys', body: filled('? ', bytes) },
    { what: 'unmatched braces', body: filled('}', bytes / 8) },
    { what: 'anchors', body: filled('&a ', bytes) },
    { what: 'comments', body: `${head}${integration(1)}${filled('# svc:ignore[a]\n', bytes)}` },
    { what: 'integrations with faults', body: `${head}${list(5_000, integration)}` },
    {
      what: 'fields with faults',
      body: `${head}  - name: a\n    provider: hubspot\n    read:\n      objects:\n        - objectName: contacts\n          requiredFields:\n${list(10_000, fields)}`,
    },
  ];
}

/** Writes of the right shape that are as much as is taken. */
export function hostileWrites(): Record<string, unknown>[] {
  const record = (fields: number, value: (index: number) => unknown) =>
    Object.fromEntries(Array.from({ length: fields }, (_, index) => [`field_${index}`, value(index)]));
  const batch = (fields: number, value: (index: number) => unknown) =>
    Array.from({ length: 100 }, () => ({ record: record(fields, value) }));
  const deep = (levels: number): unknown => JSON.parse(`${'['.repeat(levels)}${']'.repeat(levels)}`);
  return [
    { type: 'create', record: record(5_000, (index) => index / 3) },
    { type: 'create', record: record(45_000, () => 1) },
    { type: 'create', mode: 'asynchronous', batch: batch(450, (index) => `value ${index}`) },
    { type: 'create', mode: 'asynchronous', batch: batch(90, () => 'é'.repeat(500)) },
    { type: 'update', batch: batch(400, () => '2024-01-01T00:00:00.000Z') },
    { type: 'create', record: { a: deep(1_000) } },
    { type: 'create', record: { a: 'x'.repeat(9 * mebibyte) } },
    { type: 'create', batch: Array.from({ length: 20_000 }, () => ({ recrd: 1 })) },
    {
      type: 'create',
      record: {},
      associations: Array.from({ length: 8_000 }, () => ({ to: { id: 'x' }, types: [] })),
    },
    {
      type: 'create',
      record: {},
      headers: Array.from({ length: 50 }, (_, index) => ({ key: `x${index}`, value: 'y'.repeat(100_000) })),
    },
  ];
}

/** Paths without a route, by a caller who is not known: as long as headers may be, of what looks like secrets. */
export function hostilePaths(): { what: string; path: string }[] {
  const nearly = `${'a'.repeat(7_900)}?aB1${'a'.repeat(7_850)}`;
  const alike = Array.from({ length: 240 }, (_, index) => `aB1${'a'.repeat(22)}${10_000 + index}`);
  const keys = Array.from({ length: 1_100 }, (_, index) => `svc_${100_000_000 + index}`);
  return [
    { what: 'a secret that is nearly in it', path: `/aB1/${nearly}` },
    { what: 'secrets that begin alike', path: `/${`aB1${'a'.repeat(22)}`.repeat(300)}?${alike.join('&')}` },
    { what: 'many keys', path: `/${keys.join('/')}` },
  ];
}
