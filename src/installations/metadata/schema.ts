import { Type, type Static } from 'typebox';
import { ManifestIntegration, ManifestReadObject, ManifestWriteObject } from '../../projects/schema.ts';
import { FieldMetadata } from '../../providers/schema.ts';

const closed = { additionalProperties: false } as const;
const fieldMap = Type.Unsafe<Record<string, FieldMetadata>>({
  type: 'object',
  additionalProperties: FieldMetadata,
});

/** An object as the customer's account has it. */
export const ObjectMetadata = Type.Object(
  {
    name: Type.String({ description: 'Name of the object at the provider.' }),
    displayName: Type.Optional(Type.String()),
    mappedObjectName: Type.Optional(
      Type.String({ description: "The integration's `mapToName` of the object." }),
    ),
    fields: fieldMap,
  },
  { ...closed, title: 'ObjectMetadata' },
);
export type ObjectMetadata = Static<typeof ObjectMetadata>;

const HydratedField = Type.Object(
  {
    fieldName: Type.Optional(Type.String()),
    displayName: Type.Optional(
      Type.String({
        description:
          "The provider's label of the field, or its name; missing where the end user chooses the field.",
      }),
    ),
    mapToName: Type.Optional(Type.String()),
    mapToDisplayName: Type.Optional(Type.String()),
    prompt: Type.Optional(Type.String()),
    default: Type.Optional(Type.String()),
  },
  { ...closed, title: 'HydratedField' },
);
export type HydratedField = Static<typeof HydratedField>;

const live = {
  displayName: Type.String({
    description: "The provider's label of the object; where it cannot be asked, the manifest's name.",
  }),
  error: Type.Optional(
    Type.String({ description: 'Why there is no live metadata of this object; the others have theirs.' }),
  ),
};

const HydratedReadObject = Type.Object(
  {
    ...ManifestReadObject.properties,
    ...live,
    requiredFields: Type.Optional(Type.Array(HydratedField)),
    optionalFields: Type.Optional(Type.Array(HydratedField)),
    allFieldsMetadata: Type.Optional(fieldMap),
    allFields: Type.Optional(
      Type.Array(Type.Object({ fieldName: Type.String(), displayName: Type.String() }, closed), {
        deprecated: true,
        description: 'Use `allFieldsMetadata`.',
      }),
    ),
  },
  { ...closed, title: 'HydratedReadObject' },
);
export type HydratedReadObject = Static<typeof HydratedReadObject>;

const HydratedWriteObject = Type.Object(
  { ...ManifestWriteObject.properties, ...live },
  { ...closed, title: 'HydratedWriteObject' },
);
export type HydratedWriteObject = Static<typeof HydratedWriteObject>;

/** A revision with the live metadata of one connection. */
export const HydratedRevision = Type.Object(
  {
    id: Type.String(),
    specVersion: Type.String(),
    createTime: Type.String({ description: 'RFC 3339, UTC.' }),
    content: Type.Object(
      {
        ...ManifestIntegration.properties,
        read: Type.Optional(Type.Object({ objects: Type.Array(HydratedReadObject) }, closed)),
        write: Type.Optional(Type.Object({ objects: Type.Array(HydratedWriteObject) }, closed)),
      },
      closed,
    ),
  },
  { ...closed, title: 'HydratedRevision' },
);
export type HydratedRevision = Static<typeof HydratedRevision>;
