/** One selectable value of an enumeration. */
export type Option = { label: string; value: string; displayOrder: number; hidden: boolean };

/** A property definition as the properties API shows it. */
export type Property = {
  name: string;
  label: string;
  type: string;
  fieldType: string;
  groupName: string;
  description: string;
  hubspotDefined: boolean;
  hasUniqueValue: boolean;
  hidden: boolean;
  calculated: boolean;
  externalOptions: boolean;
  referencedObjectType: string | null;
  formField: boolean;
  displayOrder: number;
  options: Option[];
  modificationMetadata: { archivable: boolean; readOnlyDefinition: boolean; readOnlyValue: boolean };
  archived: boolean;
  archivedAt?: string;
  createdAt: string;
  updatedAt: string;
};

export type Group = { name: string; label: string; displayOrder: number; archived: boolean };

/** A kind of record: a standard object or a custom one. */
export type ObjectType = {
  /** `0-1`, or `2-…` for custom objects. */
  typeId: string;
  singular: string;
  /** The name in paths, and in the control API. */
  plural: string;
  fullyQualifiedName?: string;
  labels: { singular: string; plural: string };
  custom: boolean;
  archived: boolean;
  primaryDisplay: string;
  secondaryDisplay: string[];
  searchable: string[];
  required: string[];
  /** At least one of these must be set at creation. */
  requiredOneOf: string[];
  /** Shown when a read names no property. */
  defaults: string[];
  createdProperty: string;
  /** `lastmodifieddate` for contacts, `hs_lastmodifieddate` for all else. */
  modifiedProperty: string;
  properties: Map<string, Property>;
  groups: Map<string, Group>;
  createdAt: string;
};

export type Change = { value: string; at: number };

/** One stored record. `properties` is replaced, never changed, so that old views stay true. */
export type Row = {
  id: string;
  properties: Readonly<Record<string, string>>;
  createdAt: number;
  updatedAt: number;
  archived: boolean;
  archivedAt?: number;
  /** What the search index holds; undefined until the record is first indexed. */
  indexed?: Readonly<Record<string, string>>;
  /** Newest first; only properties that changed after creation. */
  history?: Map<string, Change[]>;
};
