import type { HttpAnswer } from '../../kit/http/client.ts';
import { bodyOf, isObject, isSuccess, objectsIn, objectsOf, textOf, type JsonObject } from '../answer.ts';
import type { DescribeAbility, ProviderClient, UniqueField } from '../connector.ts';
import { failureOfRead, type Failure } from '../failure.ts';
import { fieldsIn } from '../fields.ts';
import { failureOf } from './failure.ts';
import { fieldFrom, requiredFrom } from './fields.ts';
import { isOwners, ownerFields, owners, ownersPath } from './owners.ts';
import { faultOfObjectName, propertiesPath, schemaPath, schemasPath } from './paths.ts';

/** Those that every portal has, by the names that HubSpot's API takes; its schemas list the customer's own only. */
const standardObjects = `${owners} contacts companies deals tickets products line_items quotes leads
carts orders calls emails meetings notes tasks communications
postal_mail feedback_submissions invoices subscriptions commerce_payments discounts fees taxes
goal_targets appointments courses listings services users`.split(/\s/);

export const describe: DescribeAbility = {
  standard: standardObjects,
  async names(client) {
    const schemas = await get(client, schemasPath);
    const listed = 'body' in schemas ? objectsOf(schemas.body['results']) : [];
    const own = listed.flatMap((schema) => [textOf(schema['name']), textOf(schema['fullyQualifiedName'])]);
    return [...standardObjects, ...own.filter((name) => name !== undefined)];
  },
  async describe(client, objectName) {
    const fault = faultOfObjectName(objectName);
    if (fault) return { failure: fault };
    if (isOwners(objectName)) return describeOwners(client);
    const [properties, schema] = await Promise.all([
      get(client, propertiesPath(objectName)),
      get(client, schemaPath(objectName)),
    ]);
    if ('failure' in properties) return properties;
    // The schema needs a scope of its own; without it, what is required is not known.
    const known = 'body' in schema ? schema.body : undefined;
    const required = requiredFrom(known);
    const fields = fieldsIn(properties.body['results'], (property) => fieldFrom(property, required));
    if (!fields) return { failure: failureOf(properties.answer) };
    return {
      object: {
        name: objectName,
        displayName: labelFrom(known) ?? titleOf(objectName),
        fields,
        uniqueFields: uniqueFrom(objectsOf(properties.body['results'])),
      },
    };
  },
};

/** Whether the connection may see them is asked. */
async function describeOwners(client: ProviderClient): ReturnType<DescribeAbility['describe']> {
  const listed = await get(client, `${ownersPath}?limit=1`);
  if ('failure' in listed) return listed;
  if (!objectsIn(listed.body['results'])) return { failure: failureOf(listed.answer) };
  return { object: { name: owners, displayName: titleOf(owners), fields: ownerFields } };
}

/** Properties whose values HubSpot keeps unique; those that the customer made come first, for they were made to tell records apart. */
function uniqueFrom(properties: readonly JsonObject[]): UniqueField[] {
  const unique = properties.filter((property) => property['hasUniqueValue'] === true);
  const custom = unique.filter((property) => property['hubspotDefined'] !== true);
  const names = [...custom, ...unique].map((property) => textOf(property['name']));
  return [...new Set(names.filter((name) => name !== undefined))].map((name) => ({ name, enforced: true }));
}

/** One GET; a readable success, or why not. */
async function get(
  client: ProviderClient,
  path: string,
): Promise<{ answer: HttpAnswer; body: JsonObject } | { failure: Failure }> {
  const result = await client.send({ method: 'GET', path });
  if ('fault' in result) return { failure: failureOfRead(result.fault) };
  const { answer } = result;
  const body = isSuccess(answer) ? bodyOf(answer) : undefined;
  return isObject(body) ? { answer, body } : { failure: failureOf(answer) };
}

function labelFrom(schema: unknown): string | undefined {
  const labels = isObject(schema) && isObject(schema['labels']) ? schema['labels'] : {};
  return textOf(labels['plural']) ?? textOf(labels['singular']);
}

function titleOf(objectName: string): string {
  const words = objectName.replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}
