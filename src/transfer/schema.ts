import { Type, type Static } from 'typebox';

const closed = { additionalProperties: false } as const;

export const fileFormat = 'svc-project';
/** Goes up when a column is added to or taken from what is carried (`transfer.test.ts` has them). */
export const fileVersion = 3;
/** The first one whose files say when connections were handed over. */
export const firstHandingOver = 3;

const Passphrase = Type.String({
  minLength: 12,
  maxLength: 1_000,
  description: 'Seals and opens all that is in the file. It is kept nowhere.',
});

const Counts = Type.Record(Type.String(), Type.Integer(), {
  maxProperties: 100,
  description: 'By kind: `connections`, `installations`, `destinations` and so on.',
});

export const ProjectFile = Type.Object(
  {
    format: Type.Literal(fileFormat),
    version: Type.Integer({
      minimum: 1,
      description: 'Of the format; a server reads its own and earlier ones.',
    }),
    project: Type.String({ maxLength: 255, description: 'The name of the project that it was made from.' }),
    createTime: Type.String({ format: 'date-time' }),
    moved: Type.Boolean({ description: 'The connections are not used any more where it was made.' }),
    counts: Counts,
    salt: Type.String({ maxLength: 100 }),
    data: Type.String({ description: 'Everything that comes along, sealed with the passphrase.' }),
  },
  { ...closed, title: 'ProjectFile' },
);
export type ProjectFile = Static<typeof ProjectFile>;

export const ExportRequest = Type.Object(
  {
    passphrase: Passphrase,
    move: Type.Optional(
      Type.Boolean({
        default: false,
        description:
          'Ends the use of all connections here, so that only the server that imports the file renews their tokens. `:undo` takes them back.',
      }),
    ),
  },
  { ...closed, title: 'ExportRequest' },
);
export type ExportRequest = Static<typeof ExportRequest>;

export const Export = Type.Object(
  {
    file: ProjectFile,
    warnings: Type.Array(Type.Object({ message: Type.String() }, closed)),
  },
  { ...closed, title: 'Export' },
);
export type Export = Static<typeof Export>;

export const UndoneExport = Type.Object(
  { connections: Type.Integer({ description: 'How many are used here again.' }) },
  { ...closed, title: 'UndoneExport' },
);

export const ImportRequest = Type.Object(
  {
    passphrase: Passphrase,
    file: ProjectFile,
    dryRun: Type.Optional(
      Type.Boolean({ default: false, description: 'Tells what would come in, and changes nothing.' }),
    ),
  },
  { ...closed, title: 'ImportRequest' },
);
export type ImportRequest = Static<typeof ImportRequest>;

export const Import = Type.Object(
  {
    projectId: Type.String(),
    dryRun: Type.Boolean(),
    created: Counts,
    replaced: Type.Record(Type.String(), Type.Integer(), {
      description:
        'What was there and is now as in the file: connections that the file hands over (an export with `move`, after what is known of them here), and keys that were revoked since.',
    }),
    unchanged: Type.Record(Type.String(), Type.Integer(), {
      description:
        'What was there already, by its id, and was left as it is; `warnings` names what the file has otherwise.',
    }),
    warnings: Type.Array(Type.Object({ message: Type.String() }, closed)),
  },
  { ...closed, title: 'Import' },
);
export type Import = Static<typeof Import>;
