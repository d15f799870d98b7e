import { Type, type Static } from 'typebox';
import { Connection, Group } from '../connections/schema.ts';
import { maskLength, maxMasks } from '../kit/update-mask-schema.ts';
import { ConfigContent, PartialConfigContent } from './config/schema.ts';
import { healthStatuses } from './words-schema.ts';

const closed = { additionalProperties: false } as const;
const time = Type.String({ description: 'RFC 3339, UTC.' });
const groupRef = Type.String({
  minLength: 1,
  maxLength: 255,
  description: "The group, by the builder's own id.",
});
const connectionId = Type.String({
  minLength: 1,
  maxLength: 255,
  description: "Default: the group's newest connection that works.",
});
const createdBy = Type.String({
  maxLength: 255,
  description: 'One of consumer:{consumer-id}, builder:{builder-id}, api:{api-caller}.',
});
const revisionId = Type.String({
  maxLength: 255,
  deprecated: true,
  description: 'Ignored: the latest revision counts.',
});

/** One config of an installation; immutable. A change makes another. */
export const Config = Type.Object(
  {
    id: Type.String(),
    revisionId: Type.String(),
    createTime: time,
    createdBy: Type.String(),
    content: ConfigContent,
  },
  { ...closed, title: 'Config' },
);
export type Config = Static<typeof Config>;

/** One integration × group × connection × config. */
export const Installation = Type.Object(
  {
    id: Type.String(),
    projectId: Type.String(),
    integrationId: Type.String(),
    group: Group,
    healthStatus: Type.Enum([...healthStatuses], {
      description:
        '`unhealthy`: the connection has bad credentials or is gone, or at least half of the operations of late failed, and more than one.',
    }),
    lastOperationStatus: Type.Optional(Type.Enum(['success', 'failure', 'in_progress'])),
    connection: Type.Optional(Connection),
    createTime: time,
    createdBy: Type.String(),
    updateTime: Type.Optional(Type.String({ description: 'The last change of the config.' })),
    config: Config,
    warnings: Type.Optional(
      Type.Array(Type.Object({ message: Type.String() }, closed), {
        description:
          'Only where it is made or changed: mappings of the config to names that the integration does not ask for; destinations that are not there or disabled; that the provider could not be asked; and, where it is made, objects of the integration that the account of the connection does not have.',
      }),
    ),
  },
  { ...closed, title: 'Installation' },
);
export type Installation = Static<typeof Installation>;

/** A config that is not saved, and whose account it is tried on. */
export const proposal = {
  groupRef,
  connectionId: Type.Optional(
    Type.String({
      ...connectionId,
      description: "Default: that of the installation, else the group's newest connection that works.",
    }),
  ),
  config: Type.Object({ content: ConfigContent }, closed),
};
export type Proposal = Static<Type.TObject<typeof proposal>>;

/** Body of a create (§2.2). */
export const CreateInstallationRequest = Type.Object(
  {
    groupRef,
    connectionId: Type.Optional(connectionId),
    config: Type.Object(
      { content: ConfigContent, revisionId: Type.Optional(revisionId), createdBy: Type.Optional(createdBy) },
      closed,
    ),
  },
  { ...closed, title: 'CreateInstallationRequest' },
);
export type CreateInstallationRequest = Static<typeof CreateInstallationRequest>;

/** Body of a PATCH: what the mask names is taken, the rest is left alone (§4.4). */
export const UpdateInstallationRequest = Type.Object(
  {
    updateMask: Type.Array(Type.String({ minLength: 1, maxLength: maskLength }), {
      minItems: 1,
      maxItems: maxMasks,
      description:
        'Dotted paths, such as `config.content.write.objects.contact`. A named object is replaced whole.',
    }),
    installation: Type.Object(
      {
        connectionId: Type.Optional(connectionId),
        config: Type.Optional(
          Type.Object(
            {
              revisionId: Type.Optional(revisionId),
              createdBy: Type.Optional(createdBy),
              content: Type.Optional(PartialConfigContent),
            },
            closed,
          ),
        ),
      },
      closed,
    ),
  },
  { ...closed, title: 'UpdateInstallationRequest' },
);
export type UpdateInstallationRequest = Static<typeof UpdateInstallationRequest>;

/** Body of a JSON Patch on one object's config (§4.5): one of `groupRef` and `installationId`. */
export const PatchObjectRequest = Type.Object(
  {
    groupRef: Type.Optional(groupRef),
    installationId: Type.Optional(Type.String({ minLength: 1, maxLength: 255 })),
    action: Type.Enum(['read', 'subscribe', 'write']),
    changes: Type.Array(
      Type.Object(
        {
          op: Type.Enum(['add', 'remove', 'replace']),
          path: Type.String({
            maxLength: 4_000,
            description: 'JSON Pointer (RFC 6901) into the config of the object; empty is the whole of it.',
          }),
          value: Type.Optional(Type.Unknown()),
        },
        closed,
      ),
      { minItems: 1, maxItems: 1_000 },
    ),
  },
  { ...closed, title: 'PatchObjectConfigContentRequest' },
);
export type PatchObjectRequest = Static<typeof PatchObjectRequest>;
