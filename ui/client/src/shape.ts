/** What a field holds: anything that JSON has. */
export type FieldValue =
  | string
  | number
  | boolean
  | null
  | readonly FieldValue[]
  | { readonly [name: string]: FieldValue | undefined };

/** The fields of an object of which nothing is declared. */
export interface Fields {
  [field: string]: FieldValue | undefined;
}

/** What `svc types` writes from a manifest: for each integration the objects that are written and read, with their fields. */
export interface IntegrationsShape {
  [integration: string]: {
    provider: string;
    write: { [objectName: string]: object };
    read: { [objectName: string]: { fields: object; mappedFields: object } };
  };
}

/** Of a builder who did not run `svc types`: any name goes. */
export interface AnyIntegrations extends IntegrationsShape {
  [integration: string]: {
    provider: string;
    write: { [objectName: string]: Fields };
    read: { [objectName: string]: { fields: Fields; mappedFields: Fields } };
  };
}

export type IntegrationOf<M extends IntegrationsShape> = keyof M & string;
export type WrittenOf<M extends IntegrationsShape, I extends IntegrationOf<M>> = keyof M[I]['write'] & string;
export type ReadOf<M extends IntegrationsShape, I extends IntegrationOf<M>> = keyof M[I]['read'] & string;

/** How a filter may name a field of what is read: as the provider does, or as the builder does, who may have put it into levels. */
export type FilterNameOf<Of extends { fields: object; mappedFields: object }> =
  | (keyof Of['fields'] & string)
  | NameWithin<Of['mappedFields']>;

type NameWithin<Names extends object> = {
  [Name in keyof Names & string]:
    | Name
    | (NonNullable<Names[Name]> extends object ? `${Name}.${string}` | `$['${Name}']${string}` : never);
}[keyof Names & string];

interface MessageOf<Provider, Name, One> {
  action: string;
  projectId: string;
  provider: Provider;
  groupRef: string;
  groupName: string;
  consumerRef?: string;
  consumerName?: string;
  installationId: string;
  installationUpdateTime: string;
  /** The builder's name of the object. */
  objectName: Name;
  /** The provider's. */
  rawObjectName: string;
  operationId?: string;
  operationTime?: string;
  readType?: string;
  /** With `type: "url"` the records are got from `downloadUrl`, which needs no key. */
  resultInfo: { type: 'inline' | 'url'; numRecords: number; downloadUrl?: string };
  result?: One[];
}

/** One record of a message. */
export interface Entry<Of extends { fields: object; mappedFields: object }> {
  fields: Of['fields'];
  mappedFields: Of['mappedFields'];
  raw: Record<string, unknown>;
  /** What the record is associated with, by object, where that is asked for. */
  associations?: Record<string, { id: string; objectName: string; rawObjectName: string }[]>;
  /** Its record is gone at the provider. */
  deleted?: true;
  id?: string;
}

type MessagesOf<M extends IntegrationsShape, I extends IntegrationOf<M>> = {
  [O in ReadOf<M, I>]: MessageOf<M[I]['provider'], O, Entry<M[I]['read'][O]>>;
}[ReadOf<M, I>];

/** Records that are delivered to a webhook: one form for each object that the manifest reads. */
export type DataMessage<M extends IntegrationsShape = AnyIntegrations> = {
  [I in IntegrationOf<M>]: MessagesOf<M, I>;
}[IntegrationOf<M>];
