import { isId } from '../../kit/ids.ts';
import { Problem, problem } from '../../kit/problem.ts';
import type { Principal } from '../../projects/index.ts';
import type {
  ManifestField,
  ManifestIntegration,
  ManifestReadObject,
  ManifestWriteObject,
} from '../../projects/schema.ts';
import { fieldLevels, type ObjectDescription } from '../../providers/index.ts';
import type { FieldMetadata } from '../../providers/schema.ts';
import { namedConnection } from '../connection.ts';
import { enter, type IntegrationPlace, type InstallationsDeps } from '../scope.ts';
import { describeObject } from './describe.ts';
import type { HydratedField, HydratedReadObject, HydratedRevision, HydratedWriteObject } from './schema.ts';
import { findRevision } from './store.ts';

type Description = { object: ObjectDescription } | { error: string };

/** A revision with what the connection's account says of its objects. One that cannot be described carries its error. */
export async function hydrateRevision(
  deps: InstallationsDeps,
  principal: Principal,
  place: IntegrationPlace & { revisionId: string },
  connectionId: string,
): Promise<HydratedRevision> {
  const { projectId, reach, integration } = await enter(deps, principal, place);
  const { revisionId } = place;
  const revision = isId(revisionId)
    ? await findRevision(deps.ground.database, projectId, integration.id, revisionId)
    : undefined;
  if (!revision) {
    throw problem('not-found', {
      detail: `The integration ${integration.name} has no revision ${revisionId}.`,
    });
  }
  const connection = await namedConnection(deps.connections, reach, connectionId);
  if (!connection) throw problem('not-found', { detail: `There is no connection ${connectionId}.` });
  const { provider } = integration;
  if (connection.provider !== provider) {
    const detail = `The connection is to ${connection.provider}, the integration to ${provider}.`;
    throw problem('connection-provider-mismatch', { detail });
  }
  const names = objectNames(revision.content);
  const described = await Promise.all(
    names.map(
      async (name) =>
        [name, await describedOrError(deps, { projectId, provider, connectionId }, name)] as const,
    ),
  );
  return {
    id: revision.id,
    specVersion: revision.spec_version,
    createTime: revision.created_at.toISOString(),
    content: hydrate(revision.content, new Map(described)),
  };
}

function objectNames({ read, write }: ManifestIntegration): string[] {
  return [
    ...new Set([...(read?.objects ?? []), ...(write?.objects ?? [])].map((object) => object.objectName)),
  ];
}

async function describedOrError(
  deps: InstallationsDeps,
  through: Parameters<typeof describeObject>[1],
  name: string,
): Promise<Description> {
  try {
    return { object: await describeObject(deps, through, name) };
  } catch (error) {
    if (error instanceof Problem && error.code !== 'database-unavailable') return { error: error.message };
    throw error;
  }
}

/** The manifest with labels and fields put in. */
export function hydrate(
  manifest: ManifestIntegration,
  descriptions: ReadonlyMap<string, Description>,
): HydratedRevision['content'] {
  const { read, write, ...rest } = manifest;
  const of = (name: string): Description => descriptions.get(name) ?? { error: 'not described' };
  return {
    ...rest,
    ...(read
      ? { read: { objects: read.objects.map((object) => hydrateRead(object, of(object.objectName))) } }
      : {}),
    ...(write
      ? { write: { objects: write.objects.map((object) => hydrateWrite(object, of(object.objectName))) } }
      : {}),
  };
}

function hydrateRead(declared: ManifestReadObject, description: Description): HydratedReadObject {
  const named = { ...declared, displayName: declared.mapToDisplayName ?? declared.objectName };
  if ('error' in description) return { ...named, ...labelledFields(declared, []), error: description.error };
  const { displayName, fields } = description.object;
  const known = Object.values(fields);
  return {
    ...named,
    displayName,
    ...labelledFields(declared, known),
    allFieldsMetadata: fields,
    allFields: known.map((field) => ({ fieldName: field.fieldName, displayName: field.displayName })),
  };
}

/** The fields of an object with what they are called; `optionalFieldsAuto` stands for all that are not named. */
function labelledFields(
  { requiredFields, optionalFields, optionalFieldsAuto }: ManifestReadObject,
  known: readonly FieldMetadata[],
): Pick<HydratedReadObject, 'requiredFields' | 'optionalFields'> {
  const labels = new Map(known.map((field) => [field.fieldName.toLowerCase(), field.displayName]));
  const labelled = (field: ManifestField): HydratedField => {
    const { fieldName } = field;
    if (fieldName === undefined) return field;
    return { ...field, displayName: labels.get(fieldName.toLowerCase()) ?? fieldLevels(fieldName).join('.') };
  };
  const named = [...(requiredFields ?? []), ...(optionalFields ?? [])];
  const taken = new Set(named.map(({ fieldName }) => fieldName?.toLowerCase()));
  const others = known.filter(({ fieldName }) => !taken.has(fieldName.toLowerCase()));
  const added = optionalFieldsAuto === 'all' ? others.map(({ fieldName }) => ({ fieldName })) : [];
  const optional = [...(optionalFields ?? []), ...added];
  return {
    ...(requiredFields ? { requiredFields: requiredFields.map(labelled) } : {}),
    ...(optionalFields || added.length > 0 ? { optionalFields: optional.map(labelled) } : {}),
  };
}

function hydrateWrite(declared: ManifestWriteObject, description: Description): HydratedWriteObject {
  const { objectName } = declared;
  if ('error' in description) return { ...declared, displayName: objectName, error: description.error };
  return { ...declared, displayName: description.object.displayName };
}
