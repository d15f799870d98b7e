type FieldType =
  | 'id'
  | 'string'
  | 'textarea'
  | 'url'
  | 'email'
  | 'phone'
  | 'reference'
  | 'boolean'
  | 'int'
  | 'double'
  | 'currency'
  | 'percent'
  | 'date'
  | 'datetime'
  | 'time'
  | 'picklist'
  | 'multipicklist'
  | 'combobox'
  | 'address';

/** One column of an object, with the properties that describe reports and the writer obeys. */
export type Field = {
  name: string;
  label: string;
  type: FieldType;
  length: number;
  precision: number;
  scale: number;
  custom: boolean;
  nillable: boolean;
  createable: boolean;
  updateable: boolean;
  defaultedOnCreate: boolean;
  calculated: boolean;
  autoNumber: boolean;
  unique: boolean;
  externalId: boolean;
  idLookup: boolean;
  /** Of a unique text: values that differ in their case are different ones. */
  caseSensitive: boolean;
  nameField: boolean;
  picklist: string[];
  /** Labels of values that are shown under another name than their own; `toLabel()` reads them. */
  labels: Record<string, string>;
  restricted: boolean;
  /** Value a create gets when it says nothing. */
  preset: string | number | boolean | null;
  referenceTo: string[];
  /** Name of the parent in a query path (`Account` for `AccountId`). */
  relationshipName: string | null;
  /** Name of the list of children on the parent's side (`Contacts`). */
  childRelationship: string | null;
  /** What becomes of this record when the one it points to is deleted. */
  onDelete: 'clear' | 'cascade' | 'restrict';
  compoundFieldName: string | null;
};

const lengths: Partial<Record<FieldType, number>> = {
  id: 18,
  reference: 18,
  string: 255,
  textarea: 32_000,
  url: 255,
  email: 80,
  phone: 40,
  picklist: 255,
  multipicklist: 4099,
  combobox: 255,
};

/** A field with the usual properties of its type; `extra` overrides any of them. */
export function field(name: string, type: FieldType, extra: Partial<Field> = {}): Field {
  const numeric = type === 'double' || type === 'currency' || type === 'percent';
  return {
    name,
    label: labelOf(name),
    type,
    length: lengths[type] ?? 0,
    precision: numeric ? 18 : 0,
    scale: numeric ? 2 : 0,
    custom: name.endsWith('__c'),
    nillable: type !== 'boolean',
    createable: true,
    updateable: true,
    defaultedOnCreate: type === 'boolean',
    calculated: false,
    autoNumber: false,
    unique: false,
    externalId: false,
    idLookup: false,
    caseSensitive: false,
    nameField: false,
    picklist: [],
    labels: {},
    restricted: false,
    preset: type === 'boolean' ? false : null,
    referenceTo: [],
    relationshipName: null,
    childRelationship: null,
    onDelete: 'clear',
    compoundFieldName: null,
    ...extra,
  };
}

function labelOf(name: string): string {
  const plain = name.replace(/__c$/, '').replaceAll('_', ' ');
  return plain.replace(/Id$/, ' ID').replaceAll(/([a-z])([A-Z])/g, '$1 $2');
}

const readOnly = { createable: false, updateable: false } as const;

export function readOnlyField(name: string, type: FieldType, extra: Partial<Field> = {}): Field {
  return field(name, type, { ...readOnly, ...extra });
}

export function text(name: string, length: number, extra: Partial<Field> = {}): Field {
  return field(name, 'string', { length, ...extra });
}

export function requiredText(name: string, length: number, extra: Partial<Field> = {}): Field {
  return text(name, length, { nillable: false, ...extra });
}

export function externalId(name: string, extra: Partial<Field> = {}): Field {
  return text(name, 255, { externalId: true, idLookup: true, unique: true, ...extra });
}

export function picklist(name: string, values: string[], extra: Partial<Field> = {}): Field {
  return field(name, 'picklist', {
    picklist: values,
    defaultedOnCreate: extra.preset !== undefined,
    ...extra,
  });
}

/** A lookup to one or several objects, with both relationship names. */
export function reference(
  name: string,
  referenceTo: string[],
  relationshipName: string,
  childRelationship: string | null = null,
  extra: Partial<Field> = {},
): Field {
  return field(name, 'reference', { referenceTo, relationshipName, childRelationship, ...extra });
}

/** The parts of a compound address and the read-only compound itself. */
export function address(prefix: string): Field[] {
  const compoundFieldName = `${prefix}Address`;
  const part = { compoundFieldName };
  return [
    field(`${prefix}Street`, 'textarea', { ...part, length: 255 }),
    text(`${prefix}City`, 40, part),
    text(`${prefix}State`, 80, part),
    text(`${prefix}PostalCode`, 20, part),
    text(`${prefix}Country`, 80, part),
    field(`${prefix}Latitude`, 'double', { ...part, scale: 15 }),
    field(`${prefix}Longitude`, 'double', { ...part, scale: 15 }),
    picklist(`${prefix}GeocodeAccuracy`, ['Address', 'Street', 'Zip', 'City'], part),
    readOnlyField(compoundFieldName, 'address'),
  ];
}

/** The parts of a person's name and the read-only full name. */
export function personName(): Field[] {
  const part = { compoundFieldName: 'Name' };
  return [
    requiredText('LastName', 80, part),
    text('FirstName', 40, part),
    picklist('Salutation', ['Mr.', 'Ms.', 'Mrs.', 'Dr.', 'Prof.'], part),
    readOnlyField('Name', 'string', { length: 121, nillable: false, nameField: true }),
  ];
}

/** Columns every object has, after its own. */
export function systemFields(): Field[] {
  const stamped = { nillable: false, defaultedOnCreate: true };
  return [
    readOnlyField('IsDeleted', 'boolean'),
    readOnlyField('CreatedDate', 'datetime', stamped),
    readOnlyField('CreatedById', 'reference', {
      ...stamped,
      referenceTo: ['User'],
      relationshipName: 'CreatedBy',
    }),
    readOnlyField('LastModifiedDate', 'datetime', stamped),
    readOnlyField('LastModifiedById', 'reference', {
      ...stamped,
      referenceTo: ['User'],
      relationshipName: 'LastModifiedBy',
    }),
    readOnlyField('SystemModstamp', 'datetime', stamped),
  ];
}

export function owner(): Field {
  return reference('OwnerId', ['User'], 'Owner', null, { nillable: false, defaultedOnCreate: true });
}
