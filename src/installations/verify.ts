import { problem, refuse } from '../kit/problem.ts';
import type { Connections } from '../connections/index.ts';
import type { ManifestIntegration } from '../projects/schema.ts';
import {
  connectorOf,
  sampleRead,
  type Connector,
  type Failure,
  type ProviderClient,
} from '../providers/index.ts';
import { describedOnce, tolerant, type Describe } from './asking.ts';
import { bodyIssue, contentPath } from './config/issue.ts';
import {
  filterValueIssues,
  namedFields,
  unknownFieldIssues,
  type NamedField,
  type NamedObject,
} from './config/named-fields.ts';
import { entryOf } from './config/objects.ts';
import { samplesOf, type Sample } from './config/sampling.ts';
import type { ConfigContent } from './config/schema.ts';
import { unanswered, warningsOf, type Unverified } from './unverified.ts';
import { findAbsences, findUnknownObjects } from './unknown-names.ts';

/** What is verified. `previous` is the config in force and counts as checked; absent on create and for another connection. */
export interface Verification {
  projectId: string;
  provider: string;
  connectionId: string;
  content: ConfigContent;
  manifest: ManifestIntegration;
  previous: ConfigContent | undefined;
}

/**
 * Asks the provider whether the objects and fields that the config newly names exist, and reads one record of each object
 * to be read. Throws config-invalid or sample-read-failed; whatever else fails there does not count. What the
 * builder's manifest names and the provider lacks is no fault of the config: it is what this answers.
 */
export async function verifyAtProvider(
  connections: Connections,
  asked: Verification,
): Promise<{ message: string }[]> {
  const connector = connectorOf(asked.provider);
  if (!connector) return [];
  const objects = newlyNamed(asked);
  const samples = samplesOf(asked.content, asked.manifest, asked.previous);
  // A sampled object is refused by the sample read, in its words.
  const sampled = new Set(samples.map(({ path }) => `${path}.objectName`));
  const configured = newObjects(asked).filter(({ path }) => !sampled.has(path));
  if (asked.previous && objects.length + samples.length + configured.length === 0) return [];
  const client = await tolerant(() => connections.client(asked.projectId, asked.connectionId));
  if (!client) return [unanswered];
  const describe = describedOnce(connector, client);
  const names = configured.map(({ objectName }) => objectName);
  const unknown = await tolerant(() => findUnknownObjects(connector, client, describe, names));
  refuseObjects(configured, unknown ?? new Map());
  const unverified = [
    ...(await verifyFields(describe, objects, connector)),
    ...(await verifySamples(connector, client, describe, samples)),
  ];
  const warned = unknown === undefined && unverified.length === 0 ? [unanswered] : warningsOf(unverified);
  if (asked.previous) return warned;
  const absences = await tolerant(() => findAbsences(connector, client, describe, asked.manifest));
  // An object that is read and written is named twice. What was not checked is said above, of what the config names.
  const absent = (absences ?? []).filter(({ rule }) => rule !== 'names-unchecked');
  const messages = new Set(absent.map(({ message }) => message));
  return [...warned, ...[...messages].map((message) => ({ message }))];
}

interface ConfiguredObject {
  path: string;
  objectName: string;
}

/** The objects of the config that it did not hold before. */
function newObjects({ content, previous }: Verification): ConfiguredObject[] {
  return (['read', 'write'] as const).flatMap((action) =>
    Object.entries<{ objectName: string }>(content[action]?.objects ?? {}).flatMap(([key, { objectName }]) =>
      entryOf<{ objectName: string }>(previous?.[action]?.objects, objectName)
        ? []
        : [{ path: `${contentPath}.${action}.objects.${key}.objectName`, objectName }],
    ),
  );
}

function refuseObjects(configured: readonly ConfiguredObject[], unknown: ReadonlyMap<string, string>): void {
  const issues = configured.flatMap(({ path, objectName }) => {
    const message = unknown.get(objectName);
    return message === undefined ? [] : [bodyIssue(path, message, objectName)];
  });
  if (issues.length > 0) throw refuse(issues, 'config-invalid');
}

const keyOf = (objectName: string, { fieldName, value }: NamedField): string =>
  JSON.stringify([objectName, fieldName, value]);

/** The named fields that were not named for the same object before, and filters that have another value. */
function newlyNamed({ content, manifest, previous }: Verification): NamedObject[] {
  const known = new Set(
    (previous ? namedFields(previous, manifest) : []).flatMap(({ objectName, fields }) =>
      fields.map((field) => keyOf(objectName, field)),
    ),
  );
  return namedFields(content, manifest)
    .map(({ path, objectName, fields }) => ({
      path,
      objectName,
      fields: fields.filter((field) => !known.has(keyOf(objectName, field))),
    }))
    .filter((object) => object.fields.length > 0);
}

/** Those of which the provider did not tell. Throws config-invalid. */
async function verifyFields(
  describe: Describe,
  objects: NamedObject[],
  { describe: ability }: Connector,
): Promise<Unverified[]> {
  const names = [...new Set(objects.map((object) => object.objectName))];
  const answers = await Promise.all(names.map(async (name) => [name, await describe(name)] as const));
  const answerOf = new Map(answers);
  const issues = objects.flatMap((object) => {
    const answer = answerOf.get(object.objectName);
    if (!answer) return [];
    if ('object' in answer)
      return unknownFieldIssues(object, answer.object).concat(filterValueIssues(object, answer.object));
    if (!isBadRequest(answer.failure)) return [];
    return [
      bodyIssue(
        `${object.path}.objectName`,
        `the provider says: ${answer.failure.message}`,
        object.objectName,
      ),
    ];
  });
  if (issues.length > 0) throw refuse(issues, 'config-invalid');
  // Where a connector describes nothing, there is nothing to wait for.
  if (!ability) return [];
  return answers.flatMap(([objectName, answer]) =>
    answer && 'object' in answer ? [] : [{ objectName, failure: answer?.failure }],
  );
}

/** The same for a record of each. Throws sample-read-failed. */
async function verifySamples(
  { read }: Connector,
  client: ProviderClient,
  describe: Describe,
  samples: Sample[],
): Promise<Unverified[]> {
  if (!read) return [];
  const failureOf = async ({ objectName, fields, filters }: Sample): Promise<Failure | undefined> => {
    const described = await describe(objectName);
    if (!described || 'failure' in described) return described?.failure;
    return tolerant(() => sampleRead(read, client, { object: described.object, fields, filters }));
  };
  const tried = await Promise.all(
    samples.map(async (sample) => ({ sample, failure: await failureOf(sample) })),
  );
  const failed = tried.flatMap(({ sample, failure }) =>
    failure && isBadRequest(failure) ? [{ sample, failure }] : [],
  );
  const [first, ...others] = failed;
  if (!first)
    return tried.flatMap(({ sample: { objectName }, failure }) => (failure ? [{ objectName, failure }] : []));
  throw problem('sample-read-failed', {
    detail: `The provider refused to read ${first.sample.objectName}: ${first.failure.message}`,
    issues: [first, ...others].map(({ sample, failure }) => bodyIssue(sample.path, failure.message)),
    ...(first.failure.provider ? { provider: first.failure.provider } : {}),
  });
}

/** Only faults of the config block; credentials, limits and outages do not. */
function isBadRequest({ category }: Failure): boolean {
  return category === 'validation' || category === 'notFound';
}
