import type { LinkType, LinkTypes } from './link-types.ts';
import type { ObjectType } from './types.ts';

export type Linked = { id: string; types: LinkType[] };

/** Associations between records, kept in both directions. */
export type Links = {
  types: LinkTypes;
  /** Links two records; a labelled link is an unlabelled one too. True when something is new. */
  add: (type: LinkType, fromId: string, toId: string) => boolean;
  /** Takes off one label, or the whole association when no type is named. */
  remove: (from: ObjectType, fromId: string, to: ObjectType, toId: string, typeIds?: number[]) => boolean;
  of: (from: ObjectType, fromId: string, to: ObjectType) => Linked[];
  has: (from: ObjectType, fromId: string, to: ObjectType, toId: string) => boolean;
  /** Forgets every association of a record. */
  dropRecord: (type: ObjectType, id: string) => void;
  /** Gives one record's associations to another of the same type. */
  move: (type: ObjectType, fromId: string, toId: string) => void;
};

type Targets = Map<string, Set<number>>;
type Visit = (to: ObjectType, toId: string, typeIds: number[]) => void;

/** Which record points at which, and by which type ids. */
type Bonds = {
  mark: (from: ObjectType, fromId: string, to: ObjectType, toId: string, typeId: number) => boolean;
  peek: (from: ObjectType, fromId: string, to: ObjectType) => Targets | undefined;
  each: (type: ObjectType, id: string, visit: Visit) => void;
};

function createBonds(): Bonds {
  const sources = new Map<string, Map<ObjectType, Targets>>();
  const keyOf = (type: ObjectType, id: string): string => `${type.typeId}:${id}`;
  function targets(from: ObjectType, fromId: string, to: ObjectType): Targets {
    const key = keyOf(from, fromId);
    const byType = sources.get(key) ?? new Map<ObjectType, Targets>();
    sources.set(key, byType);
    const found = byType.get(to) ?? new Map<string, Set<number>>();
    byType.set(to, found);
    return found;
  }
  function mark(from: ObjectType, fromId: string, to: ObjectType, toId: string, typeId: number): boolean {
    const known = targets(from, fromId, to);
    const set = known.get(toId) ?? new Set();
    known.set(toId, set);
    const fresh = !set.has(typeId);
    set.add(typeId);
    return fresh;
  }
  function each(type: ObjectType, id: string, visit: Visit): void {
    for (const [to, found] of sources.get(keyOf(type, id)) ?? []) {
      const copy = [...found];
      for (const [toId, set] of copy) visit(to, toId, [...set]);
    }
  }
  return { mark, peek: (from, fromId, to) => sources.get(keyOf(from, fromId))?.get(to), each };
}

export function createLinks(types: LinkTypes): Links {
  const { mark, peek, each } = createBonds();
  function add(type: LinkType, fromId: string, toId: string): boolean {
    const plain = types.unlabelled(type.from, type.to);
    let fresh = false;
    for (const one of new Set([plain, type])) {
      fresh = mark(one.from, fromId, one.to, toId, one.typeId) || fresh;
      mark(one.to, toId, one.from, fromId, one.inverse);
    }
    return fresh;
  }
  function remove(
    from: ObjectType,
    fromId: string,
    to: ObjectType,
    toId: string,
    typeIds?: number[],
  ): boolean {
    const set = peek(from, fromId, to)?.get(toId);
    const back = peek(to, toId, from)?.get(fromId);
    if (!set || !back) return false;
    const going = typeIds ?? [...set];
    for (const type of types.between(from, to).filter((one) => going.includes(one.typeId))) {
      set.delete(type.typeId);
      back.delete(type.inverse);
    }
    if (set.size > 0) return true;
    peek(from, fromId, to)?.delete(toId);
    peek(to, toId, from)?.delete(fromId);
    return true;
  }
  function of(from: ObjectType, fromId: string, to: ObjectType): Linked[] {
    const found = peek(from, fromId, to);
    if (!found || found.size === 0) return [];
    const known = types.between(from, to);
    return [...found].map(([id, set]) => ({ id, types: known.filter((one) => set.has(one.typeId)) }));
  }
  function dropRecord(type: ObjectType, id: string): void {
    each(type, id, (to, toId) => remove(type, id, to, toId));
  }
  function move(type: ObjectType, fromId: string, toId: string): void {
    each(type, fromId, (to, otherId, typeIds) => {
      const kept = types.between(type, to).filter((one) => typeIds.includes(one.typeId));
      for (const one of kept) if (otherId !== toId) add(one, toId, otherId);
    });
    dropRecord(type, fromId);
  }
  const has: Links['has'] = (from, fromId, to, toId) => peek(from, fromId, to)?.has(toId) ?? false;
  return { types, add, remove, of, has, dropRecord, move };
}
