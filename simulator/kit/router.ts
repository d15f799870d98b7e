/** Method and path pattern to a value; `:name` takes one segment, a last `*name` the rest. */
export type Router<T> = {
  add: (method: string, pattern: string, value: T) => void;
  /** The route, or the methods this path does know, or undefined when the path is unknown. */
  match: (method: string, path: string) => RouteMatch<T> | undefined;
};

export type RouteMatch<T> =
  | { found: true; value: T; params: Record<string, string>; pattern: string }
  | { found: false; allowed: string[] };

type Leaf<T> = { value: T; names: string[]; pattern: string };
type Branch<T> = {
  fixed: Map<string, Branch<T>>;
  param?: Branch<T>;
  rest?: Branch<T>;
  leaves: Map<string, Leaf<T>>;
};
type Hit<T> = { branch: Branch<T>; values: string[] };

/** Makes an empty router; fixed segments win over parameters, a trailing slash is ignored. */
export function createRouter<T>(): Router<T> {
  const root = branch<T>();
  function add(method: string, pattern: string, value: T): void {
    const names: string[] = [];
    let at = root;
    for (const segment of split(pattern)) {
      if (segment.startsWith(':') || segment.startsWith('*')) names.push(segment.slice(1));
      at = descend(at, segment);
    }
    at.leaves.set(method, { value, names, pattern });
  }
  function match(method: string, path: string): RouteMatch<T> | undefined {
    const allowed = new Set<string>();
    for (const hit of walk(root, split(path), 0, [])) {
      const leaf =
        hit.branch.leaves.get(method) ?? (method === 'HEAD' ? hit.branch.leaves.get('GET') : undefined);
      if (leaf)
        return {
          found: true,
          value: leaf.value,
          params: named(leaf.names, hit.values),
          pattern: leaf.pattern,
        };
      for (const known of hit.branch.leaves.keys()) allowed.add(known);
    }
    return allowed.size > 0 ? { found: false, allowed: [...allowed] } : undefined;
  }
  return { add, match };
}

function branch<T>(): Branch<T> {
  return { fixed: new Map(), leaves: new Map() };
}

function split(path: string): string[] {
  return path.split('/').filter((segment) => segment !== '');
}

function descend<T>(from: Branch<T>, segment: string): Branch<T> {
  if (segment.startsWith(':')) return (from.param ??= branch());
  if (segment.startsWith('*')) return (from.rest ??= branch());
  const known = from.fixed.get(segment) ?? branch<T>();
  from.fixed.set(segment, known);
  return known;
}

function* walk<T>(at: Branch<T>, segments: string[], index: number, values: string[]): Generator<Hit<T>> {
  const segment = segments[index];
  if (segment === undefined) {
    yield { branch: at, values };
    return;
  }
  const fixed = at.fixed.get(segment);
  if (fixed) yield* walk(fixed, segments, index + 1, values);
  if (at.param) yield* walk(at.param, segments, index + 1, [...values, segment]);
  if (at.rest) yield { branch: at.rest, values: [...values, segments.slice(index).join('/')] };
}

function named(names: string[], values: string[]): Record<string, string> {
  const out: Record<string, string> = {};
  names.forEach((name, i) => {
    out[name] = decode(values[i] ?? '');
  });
  return out;
}

function decode(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}
