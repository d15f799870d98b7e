import type { Schema } from './object-types.ts';
import type { ObjectType } from './types.ts';

/** One kind of association in one direction. */
export type LinkType = {
  from: ObjectType;
  to: ObjectType;
  category: 'HUBSPOT_DEFINED' | 'USER_DEFINED';
  typeId: number;
  label: string | null;
  /** The same association seen from the other side. */
  inverse: number;
};

export type LinkTypes = {
  between: (from: ObjectType, to: ObjectType) => LinkType[];
  /** The unlabelled type; made on first use for pairs without one. */
  unlabelled: (from: ObjectType, to: ObjectType) => LinkType;
  find: (from: ObjectType, category: string, typeId: number) => LinkType | undefined;
  /** A custom label; answers both directions. */
  addLabel: (from: ObjectType, to: ObjectType, label: string, inverseLabel: string) => LinkType[];
  rename: (type: LinkType, label: string) => void;
  remove: (type: LinkType) => void;
};

type Known = [
  from: string,
  to: string,
  typeId: number,
  inverse: number,
  label?: string,
  inverseLabel?: string,
];

/** Standard association types; the first of a pair without a label is its default. */
const KNOWN: Known[] = [
  ['contacts', 'companies', 279, 280],
  ['contacts', 'companies', 1, 2, 'Primary', 'Primary'],
  ['deals', 'contacts', 3, 4],
  ['deals', 'companies', 341, 342],
  ['deals', 'companies', 5, 6, 'Primary', 'Primary'],
  ['tickets', 'contacts', 16, 15],
  ['tickets', 'companies', 339, 340],
  ['tickets', 'companies', 26, 25, 'Primary', 'Primary'],
  ['deals', 'tickets', 27, 28],
  ['deals', 'line_items', 19, 20],
  ['contacts', 'contacts', 449, 449],
  ['companies', 'companies', 450, 450],
  ['companies', 'companies', 13, 14, 'Parent Company', 'Child Company'],
  ['deals', 'deals', 451, 451],
  ['notes', 'contacts', 202, 201],
  ['notes', 'companies', 190, 189],
  ['notes', 'deals', 214, 213],
  ['tasks', 'contacts', 204, 203],
  ['tasks', 'companies', 192, 191],
  ['tasks', 'deals', 216, 215],
  ['calls', 'contacts', 194, 193],
  ['calls', 'companies', 182, 181],
  ['emails', 'contacts', 198, 197],
  ['emails', 'companies', 186, 185],
  ['meetings', 'contacts', 200, 199],
  ['meetings', 'companies', 188, 187],
];

const FIRST_MADE_ID = 2000;

/** All association types, the standard ones and those made later. */
export function createLinkTypes(schema: Schema): LinkTypes {
  let types: LinkType[] = [];
  let nextId = FIRST_MADE_ID;
  function addPair(
    both: Omit<LinkType, 'label'>,
    label: string | null,
    inverseLabel: string | null,
  ): LinkType[] {
    const { from, to, typeId, inverse, category } = both;
    const pair = [{ ...both, label }];
    if (typeId !== inverse)
      pair.push({ from: to, to: from, category, typeId: inverse, inverse: typeId, label: inverseLabel });
    types.push(...pair);
    return pair;
  }
  for (const [fromName, toName, typeId, inverse, label, inverseLabel] of KNOWN) {
    const from = schema.find(fromName);
    const to = schema.find(toName);
    if (from && to)
      addPair(
        { from, to, category: 'HUBSPOT_DEFINED', typeId, inverse },
        label ?? null,
        inverseLabel ?? null,
      );
  }
  const between = (from: ObjectType, to: ObjectType): LinkType[] =>
    types.filter((one) => one.from === from && one.to === to);
  function ids(from: ObjectType, to: ObjectType): { typeId: number; inverse: number } {
    const typeId = nextId;
    nextId += from === to ? 1 : 2;
    return { typeId, inverse: from === to ? typeId : typeId + 1 };
  }
  function unlabelled(from: ObjectType, to: ObjectType): LinkType {
    const known = between(from, to).find((one) => one.label === null);
    if (known) return known;
    const category = from.custom || to.custom ? 'USER_DEFINED' : 'HUBSPOT_DEFINED';
    const [made] = addPair({ from, to, category, ...ids(from, to) }, null, null);
    if (!made) throw new Error('a pair has at least one direction');
    return made;
  }
  function addLabel(from: ObjectType, to: ObjectType, label: string, inverseLabel: string): LinkType[] {
    return addPair({ from, to, category: 'USER_DEFINED', ...ids(from, to) }, label, inverseLabel);
  }
  return {
    between,
    unlabelled,
    find: (from, category, typeId) =>
      types.find((one) => one.from === from && one.category === category && one.typeId === typeId),
    addLabel,
    rename: (type, label) => {
      type.label = label;
    },
    remove: (type) => {
      types = types.filter((one) => one.typeId !== type.typeId && one.typeId !== type.inverse);
    },
  };
}
