import type { Mutant } from './sources.ts';

/** Mutants of reads and of deliveries. */
export const mutantsOfMessages: readonly Mutant[] = [
  {
    name: 'signature over JSON that was read and written again',
    changes: [
      {
        file: 'src/deliveries/webhook/index.ts',
        find: '      at: new Date(),\n      body,',
        replace:
          '      at: new Date(),\n      body: Buffer.from(JSON.stringify(JSON.parse(body.toString()))),',
      },
    ],
    tests: ['src/deliveries/webhook/webhook.test.ts'],
  },
  {
    name: 'a redirect is a success',
    changes: [
      {
        file: 'src/deliveries/webhook/index.ts',
        find: 'if (status >= 200 && status < 300)',
        replace: 'if (status >= 200 && status < 400)',
      },
    ],
    tests: ['src/deliveries/webhook/webhook.test.ts'],
  },
  {
    name: 'a delivery that is sent again is counted twice',
    changes: [
      {
        file: 'src/deliveries/store/record.ts',
        find: "- coalesce((before = 'delivered')::int, 0)",
        replace: '',
      },
      {
        file: 'src/deliveries/store/record.ts',
        find: "- coalesce((before = 'failed')::int, 0)",
        replace: '',
      },
    ],
    tests: ['src/deliveries/deliveries.test.ts'],
  },
  {
    name: 'a read goes on, and moves its watermark, before its page is stored',
    changes: [
      {
        file: 'src/actions/read/run.ts',
        find: 'const outcome = await keepPage\n    .submit({ ...page, made: offer.messages })\n    .catch((error: unknown) => ({ error }));',
        replace:
          'void keepPage.submit({ ...page, made: offer.messages }).catch(() => undefined);\n  const outcome = [] as Kept | { error: unknown };',
      },
    ],
    tests: ['test/journeys/read-pages.test.ts'],
  },
  {
    name: 'the place of a read in another statement than its messages',
    changes: [
      {
        file: 'src/actions/read/store/pages.ts',
        find: '  messageColumns,\n  messageParts,\n  standing,',
        replace: '  keepMessages,\n  messageColumns,\n  messageParts,\n  standing,',
      },
      {
        file: 'src/actions/read/store/pages.ts',
        find: '...messageColumns(numbered(({ made }) => made)),',
        replace: '...messageColumns([]),',
      },
      {
        file: 'src/actions/read/store/pages.ts',
        find: '  const kept = new Map(rows.map(',
        replace:
          '  await keepMessages(db, pages.flatMap(({ made }) => made));\n  const kept = new Map(rows.map(',
      },
    ],
    tests: ['test/journeys/read-pages.test.ts'],
  },
  {
    name: 'the end of a range is exclusive',
    changes: [
      {
        file: 'src/providers/read.ts',
        find: 'return at > since && at <= until;',
        replace: 'return at > since && at < until;',
      },
    ],
    tests: ['src/providers/hubspot/read.test.ts'],
  },
  {
    name: 'a record that was delivered is known by its id alone',
    changes: [
      {
        file: 'src/actions/read/entries.ts',
        find: 'JSON.stringify([id, version, deleted,',
        replace: 'JSON.stringify([id, typeof version, deleted,',
      },
    ],
    tests: ['src/actions/read/entries.test.ts'],
  },
  {
    name: 'an older version overwrites the newer row of a table',
    changes: [
      {
        file: 'src/deliveries/postgres/store.ts',
        find: 'WHERE (d._svc_version COLLATE "C", d._svc_seq) < (excluded._svc_version COLLATE "C", excluded._svc_seq)',
        replace: 'WHERE d._svc_seq < excluded._svc_seq',
      },
    ],
    tests: ['src/deliveries/postgres/tables.test.ts'],
  },
  {
    name: 'rows are written while another node changes their table',
    changes: [
      {
        file: 'src/deliveries/postgres/store.ts',
        find: "{ shared: 'pg_advisory_xact_lock_shared', alone: 'pg_advisory_xact_lock' }",
        replace: "{ shared: 'abs', alone: 'abs' }",
      },
    ],
    tests: ['src/deliveries/postgres/tables.test.ts', 'src/deliveries/postgres/nodes.test.ts'],
  },
];
