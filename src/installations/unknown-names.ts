import { nearest } from '../kit/nearest.ts';
import { declaredObjects, type Absence, type DeclaredField, type DeclaredObject } from '../projects/index.ts';
import type { ManifestIntegration } from '../projects/schema.ts';
import type { Connector, ObjectDescription, ProviderClient } from '../providers/index.ts';
import type { Describe } from './asking.ts';
import { unknownFields } from './config/named-fields.ts';

/** What an integration names and its provider lacks. Of names that cannot be checked now it is said that they were not. */
export async function findAbsences(
  connector: Connector,
  client: ProviderClient,
  describe: Describe,
  content: ManifestIntegration,
): Promise<Absence[]> {
  const declared = declaredObjects(content);
  const names = declared.map(({ objectName }) => objectName);
  const unknown = await findUnknownObjects(connector, client, describe, names);
  const objects = declared.flatMap(({ path, objectName }) => {
    const message = unknown.get(objectName);
    return message === undefined ? [] : [{ rule: 'object-unknown' as const, path, message }];
  });
  const fields = declared
    .filter((object) => connector.describe && object.fields.length > 0 && !unknown.has(object.objectName))
    .map(async (object) => {
      const answer = await describe(object.objectName);
      if (!answer || 'failure' in answer) return [unchecked(object, answer?.failure.message)];
      return unknownFields(object, answer.object).map(({ field, message, meant }) => ({
        rule: 'field-unknown' as const,
        path: field.path,
        message: meant === undefined && isReversed(field, answer.object) ? turnRound(object, field) : message,
      }));
    });
  return [...objects, ...(await Promise.all(fields)).flat()];
}

function unchecked({ path, objectName }: DeclaredObject, why: string | undefined): Absence {
  const reason = why === undefined ? '' : ` (${why})`;
  const message = `the provider could not be asked for the fields of ${objectName}${reason}: whether it has those that are named was not checked`;
  return { rule: 'names-unchecked', path, message };
}

/** Whether the builder's name of a field is the one that the provider has. */
function isReversed(
  { mapToName }: { mapToName?: string | undefined },
  { fields }: ObjectDescription,
): boolean {
  const name = mapToName?.toLowerCase();
  return Object.values(fields).some(({ fieldName }) => fieldName.toLowerCase() === name);
}

function turnRound({ objectName }: DeclaredObject, { fieldName, mapToName }: DeclaredField): string {
  return `${objectName} has no field "${fieldName}" at the provider, and has "${mapToName}": \`fieldName\` is the provider's name and \`mapToName\` yours, so turn the two round`;
}

/** The objects that the provider does not have, each with its reason and the name that was probably meant. */
export async function findUnknownObjects(
  { describe: ability }: Connector,
  client: ProviderClient,
  describe: Describe,
  names: readonly string[],
): Promise<Map<string, string>> {
  if (!ability || names.length === 0) return new Map();
  const standard = new Set(ability.standard.map((name) => name.toLowerCase()));
  const doubtful = [...new Set(names)].filter((name) => !standard.has(name.toLowerCase()));
  const answers = await Promise.all(
    doubtful.map(async (objectName) => ({ objectName, answer: await describe(objectName) })),
  );
  const absent = answers.flatMap(({ objectName, answer }) =>
    answer && 'failure' in answer && ['notFound', 'validation'].includes(answer.failure.category)
      ? [{ objectName, message: answer.failure.message }]
      : [],
  );
  const known = absent.length > 0 ? await ability.names(client) : [];
  return new Map(
    absent.map(({ objectName, message }) => {
      const meant = nearest(objectName, known);
      const hint = meant === undefined ? '' : `; did you mean "${meant}"?`;
      return [objectName, `the provider has no object "${objectName}" (${message})${hint}`];
    }),
  );
}
