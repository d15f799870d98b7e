import { Type, type TObject } from 'typebox';
import { answerOf, type Fields, type Svc } from '../../../ui/client/src/index.ts';
import type { ConnectionOptions } from '../connection.ts';
import { callProvider } from '../proxy.ts';

/** What a model may ask for. */
export interface Tool {
  name: string;
  description: string;
  input: TObject;
  /** Changes something at a customer's: only with `--allow-writes`. */
  writes: boolean;
  run(input: never): Promise<unknown>;
}

const text = (description: string) => Type.String({ minLength: 1, maxLength: 500, description });
const integration = text('The integration, by its name.');
const groupRef = text('The customer.');
const object = text('The object, as the manifest names it.');
const closed = { additionalProperties: false };

const Customer = Type.Object({ integration, groupRef }, closed);
const Record = Type.Object(
  {
    integration,
    groupRef,
    object,
    type: Type.Union(['create', 'update', 'upsert', 'delete'].map((type) => Type.Literal(type))),
    upsertBy: Type.Optional(text('Of an upsert: the field whose values the provider keeps unique.')),
    record: Type.Record(Type.String(), Type.Unknown(), {
      description: 'Its fields; `id` names one that is there.',
    }),
  },
  closed,
);
const Found = Type.Object(
  {
    integration,
    groupRef,
    object,
    field: text('A field of the record, such as email.'),
    value: Type.Union([Type.String(), Type.Number(), Type.Boolean()]),
  },
  closed,
);
const Path = Type.Object(
  { integration, groupRef, path: text("A path of the provider's own API, with its query.") },
  closed,
);

type Of<Input extends TObject> = Type.Static<Input>;

/** The tools, on a client of svc. */
export function toolsOf(svc: Svc, options: ConnectionOptions): Tool[] {
  return [...describing(svc), ...looking(svc, options), ...writing(svc)];
}

function describing(svc: Svc): Tool[] {
  const { api, project: projectIdOrName } = svc;
  return [
    {
      name: 'list_integrations',
      description: 'The integrations of the project: which objects each reads and writes.',
      input: Type.Object({}, closed),
      writes: false,
      run: () =>
        collected(svc.integrations.list(), ({ name, provider, latestRevision: { content } }) => ({
          name,
          provider,
          read: content.read?.objects ?? [],
          write: content.write?.objects ?? [],
        })),
    },
    {
      name: 'list_customers',
      description: 'The customers who have an integration, and how healthy each is.',
      input: Type.Object({ integration }, closed),
      writes: false,
      run: (of: { integration: string }) =>
        collected(svc.installations.list(of), ({ id, group, healthStatus }) => ({
          id,
          groupRef: group.groupRef,
          healthStatus,
        })),
    },
    {
      name: 'describe_object',
      description: "The fields that an object has in a customer's account, with their types.",
      input: Type.Object({ ...Customer.properties, object }, closed),
      writes: false,
      run: (of: Of<typeof Customer> & { object: string }) =>
        answerOf(
          api.GET(
            '/v1/projects/{projectIdOrName}/integrations/{integrationId}/objects/{objectName}/metadata',
            {
              params: {
                path: { projectIdOrName, integrationId: of.integration, objectName: of.object },
                query: { groupRef: of.groupRef },
              },
            },
          ),
        ),
    },
  ];
}

function looking(svc: Svc, options: ConnectionOptions): Tool[] {
  return [
    {
      name: 'find_record',
      description: 'The records whose field holds a value.',
      input: Found,
      writes: false,
      run: ({ object: objectName, field, value, ...of }: Of<typeof Found>) =>
        svc.reads.search({
          ...of,
          objectName,
          fieldFilters: [{ fieldName: field, operator: 'eq', value }],
        }),
    },
    {
      name: 'plan_write',
      description: 'What a write would send to the provider. Sends nothing.',
      input: Record,
      writes: false,
      run: (of: Of<typeof Record>) => svc.write({ ...asked(of), dryRun: true }),
    },
    {
      name: 'provider_get',
      description: "A GET of the provider's own API with the customer's credentials.",
      input: Path,
      writes: false,
      run: async ({ path, integration: name, groupRef: group }: Of<typeof Path>) => {
        const answer = await callProvider(path, { ...options, integration: name, group });
        return { status: answer.status, body: (await answer.text()).slice(0, mostText) };
      },
    },
    {
      name: 'get_operation',
      description: 'What became of a write or a read.',
      input: Type.Object({ operationId: text('Its id.') }, closed),
      writes: false,
      run: ({ operationId }: { operationId: string }) => svc.operations.get(operationId),
    },
  ];
}

function writing(svc: Svc): Tool[] {
  return [
    {
      name: 'write_record',
      description:
        'Creates, updates, upserts or deletes a record at the customer; plan_write shows it before.',
      input: Record,
      writes: true,
      run: (of: Of<typeof Record>) => svc.write(asked(of)),
    },
  ];
}

/** As the client takes a create, whatever the type is: what belongs together is for the server to check. */
function asked(of: Of<typeof Record>) {
  return of as Omit<typeof of, 'type' | 'record' | 'upsertBy'> & { type: 'create'; record: Fields };
}

/** More than a model can read; svc itself has pages. */
const mostItems = 200;
const mostText = 100_000;

async function collected<Item, Shown>(
  items: AsyncIterable<Item>,
  show: (item: Item) => Shown,
): Promise<Shown[]> {
  const shown: Shown[] = [];
  for await (const item of items) {
    shown.push(show(item));
    if (shown.length === mostItems) break;
  }
  return shown;
}
