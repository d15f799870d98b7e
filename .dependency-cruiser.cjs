const room = (name) => `^src/${name}/`;
// Lowest first. A room may import the rooms before it, never one after it.
const order = [
  'kit',
  'events',
  'lanes',
  'providers',
  'projects',
  'people',
  'connections',
  'installations',
  'operations',
  'deliveries',
  'actions',
  'retention',
  'transfer',
  'overview',
];
// The rooms inside connections, lowest first; below them `schema.ts`, `aside.ts` and the stores, above them what stands beside them.
const inConnections = ['budget', 'credentials', 'tokens', 'proof', 'oauth', 'refresh', 'keep-alive'];
const top = [
  'cli',
  'server',
  'api-description',
  'api-people-examples',
  'api-looking-examples',
  'api-reading-examples',
  'api-transfer-examples',
  'api-story',
  'worker',
  'main',
  'config',
  'app',
  'command',
  'first-key',
  'problems',
];

module.exports = {
  forbidden: [
    { name: 'no-circular', severity: 'error', from: {}, to: { circular: true } },
    // Packages of this repository are built when they are published.
    {
      name: 'no-unresolvable',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true, pathNot: '^@svc/' },
    },
    ...order.map((name, i) => ({
      name: `${name}-imports-only-lower-rooms`,
      severity: 'error',
      from: { path: room(name) },
      to: { path: `^src/(${[...order.slice(i + 1), ...top].join('|')})(/|\\.ts)` },
    })),
    ...inConnections.map((name, i) => ({
      name: `connections-${name}-imports-only-lower-rooms`,
      severity: 'error',
      from: { path: `^src/connections/${name}/`, pathNot: '\\.(test|fixture)\\.ts$' },
      to: {
        path: [
          `^src/connections/(${inConnections.slice(i + 1).join('|') || 'none'})/`,
          '^src/connections/(?!(schema|aside|store|owner-store)\\.ts)[^/]+\\.ts$',
        ],
      },
    })),
    {
      name: 'enter-a-room-of-connections-by-its-door',
      severity: 'error',
      from: { path: '^src/connections/([^/]+)/', pathNot: '\\.(test|fixture)\\.ts$' },
      to: { path: '^src/connections/[^/]+/', pathNot: ['^src/connections/$1/', '/index\\.ts$'] },
    },
    {
      name: 'enter-a-room-of-connections-from-above-by-its-door',
      severity: 'error',
      from: { path: '^src/connections/[^/]+\\.ts$', pathNot: '\\.(test|fixture)\\.ts$' },
      to: { path: '^src/connections/[^/]+/', pathNot: '/index\\.ts$' },
    },
    {
      name: 'actions-are-siblings',
      severity: 'error',
      from: { path: '^src/actions/([^/]+)/' },
      to: { path: '^src/actions/([^/]+)/', pathNot: '^src/actions/$1/' },
    },
    {
      name: 'providers-are-siblings',
      severity: 'error',
      from: { path: '^src/providers/([^/]+)/' },
      to: { path: '^src/providers/([^/]+)/', pathNot: '^src/providers/$1/' },
    },
    {
      name: 'enter-a-room-by-its-door',
      severity: 'error',
      from: { path: '^src/([^/]+)/', pathNot: ['\\.(test|testsuite|fixture)\\.ts$', '^src/cli/'] },
      to: {
        path: '^src/(?!kit/)([^/]+)/.+',
        pathNot: ['^src/$1/', '^src/[^/]+/index\\.ts$', '^src/actions/[^/]+/index\\.ts$', '/schema\\.ts$'],
      },
    },
    {
      name: 'schemas-are-pure',
      severity: 'error',
      from: { path: 'schema\\.ts$' },
      to: { pathNot: ['schema\\.ts$', 'node_modules/typebox/'] },
    },
    {
      name: 'cli-sees-schemas-the-client-and-what-needs-no-database',
      severity: 'error',
      from: { path: '^src/cli/', pathNot: ['\\.test\\.ts$', '^src/cli/main\\.ts$'] },
      to: {
        path: '^(src|ui)/',
        pathNot: [
          '^src/cli/',
          'schema\\.ts$',
          '^src/(projects/manifest|providers)/index\\.ts$',
          '^src/kit/(finding|utf8)\\.ts$',
          '^src/providers/salesforce/ids\\.ts$',
          '^ui/client/src/index\\.ts$',
        ],
      },
    },
    {
      name: 'ui-stands-alone',
      severity: 'error',
      from: { path: '^ui/', pathNot: '^ui/[^/]+/test/' },
      to: { path: '^(src|simulator|test|scripts)/' },
    },
    {
      name: 'simulator-stands-alone',
      severity: 'error',
      from: { path: '^simulator/' },
      to: { path: '^(src|ui|test)/', pathNot: '^test/client' },
    },
    {
      name: 'src-never-sees-the-simulator',
      severity: 'error',
      from: { path: '^src/', pathNot: ['\\.test\\.ts$', '^src/cli/'] },
      to: { path: '^(simulator|ui|bench)/' },
    },
    {
      name: 'not-to-test',
      severity: 'error',
      from: { pathNot: '(\\.test\\.ts$|\\.(testsuite|fixture)\\.ts$|^test/|^bench/|^ui/[^/]+/test/)' },
      to: { path: '(\\.test\\.ts$|\\.(testsuite|fixture)\\.ts$|^test/)' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    // A package of its own, and what is built of others.
    exclude: { path: '^(bench/peers|ui/[^/]+/dist)/' },
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
    },
  },
};
