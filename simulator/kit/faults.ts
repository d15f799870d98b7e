import { isObject } from './http.ts';
import type { Random } from './random.ts';

/** The fault. "effect": the request is performed although its answer is lost or replaced. */
export type Fault =
  | { kind: 'status'; status: number; body?: unknown; headers?: Record<string, string>; effect?: boolean }
  | { kind: 'delay'; ms: number }
  | { kind: 'reset-before' }
  | { kind: 'reset-after' }
  | { kind: 'truncate' }
  | { kind: 'hang'; effect?: boolean }
  /** Never answered, and performed only after `ms`. */
  | { kind: 'late'; ms: number }
  | { kind: 'malformed' }
  | { kind: 'html'; status: number }
  /** A body of `count` times this text, each in a chunk of its own. */
  | { kind: 'chunks'; status: number; text: string; count: number };

/** Applies to the next `times` requests that match; `probability` (seeded) skips some of them. */
export type FaultRule = {
  id: string;
  method?: string;
  /** Part of the raw request target, or a regular expression's source. */
  path?: string;
  object?: string;
  /** Part of the request body. */
  contains?: string;
  times: number;
  probability?: number;
  fault: Fault;
};

export type FaultTarget = { method: string; target: string; text: string; object: string | undefined };

export type Faults = {
  add: (input: Record<string, unknown>) => FaultRule;
  list: () => FaultRule[];
  clear: () => void;
  /** The fault that hits this request, if any; counts it off. */
  take: (target: FaultTarget) => Fault | undefined;
  readonly size: number;
};

type Form = 'number' | 'text' | 'boolean' | 'object' | 'anything';
type Members = Readonly<Record<string, Form>>;

/** What may stand beside `kind` in a fault. */
const membersOfKind: Readonly<Record<Fault['kind'], Members>> = {
  status: { status: 'number', body: 'anything', headers: 'object', effect: 'boolean' },
  delay: { ms: 'number' },
  'reset-before': {},
  'reset-after': {},
  truncate: {},
  hang: { effect: 'boolean' },
  late: { ms: 'number' },
  malformed: {},
  html: { status: 'number' },
  chunks: { status: 'number', text: 'text', count: 'number' },
};

export const faultKinds = Object.keys(membersOfKind);

const membersOfRule: Members = {
  method: 'text',
  path: 'text',
  object: 'text',
  contains: 'text',
  times: 'number',
  probability: 'number',
  fault: 'object',
};

/** Keeps the list of fault rules; the first rule that matches wins. */
export function createFaults(random: Random): Faults {
  let rules: FaultRule[] = [];
  let count = 0;
  function add(input: Record<string, unknown>): FaultRule {
    count += 1;
    const rule = parseRule(input, `fault-${count}`);
    rules.push(rule);
    return rule;
  }
  function take(target: FaultTarget): Fault | undefined {
    const rule = rules.find((one) => matchesRule(one, target) && random.next() < (one.probability ?? 1));
    if (!rule) return undefined;
    rule.times -= 1;
    if (rule.times <= 0) rules = rules.filter((one) => one !== rule);
    return rule.fault;
  }
  return {
    add,
    list: () => rules,
    clear: () => {
      rules = [];
    },
    take,
    get size() {
      return rules.length;
    },
  };
}

function parseRule(input: Record<string, unknown>, id: string): FaultRule {
  const given = input['fault'];
  const { kind, ...rest } = isObject(given) ? given : {};
  const members = Object.entries(membersOfKind).find(([name]) => name === kind)?.[1];
  if (!members) throw new Error(`fault.kind must be one of ${faultKinds.join(', ')}`);
  checkMembers(input, membersOfRule, '');
  checkMembers(rest, members, 'fault.');
  for (const name of ['status', 'ms', 'text', 'count'])
    if (name in members && rest[name] === undefined) throw new Error(`fault.${name} is required`);
  return { times: 1, ...input, id, fault: given as Fault };
}

/** A misspelt member would be no fault, or one of another kind of requests. */
function checkMembers(given: Record<string, unknown>, members: Members, place: string): void {
  for (const [name, value] of Object.entries(given)) {
    const form = Object.hasOwn(members, name) ? members[name] : undefined;
    if (form === undefined) {
      const known = Object.keys(members).join(', ');
      throw new Error(`${place}${name} is not known${known === '' ? '' : `; known here: ${known}`}`);
    }
    const isOfForm = form === 'anything' || typeof value === (form === 'text' ? 'string' : form);
    if (value !== undefined && !isOfForm) throw new Error(`${place}${name} must be a ${form}`);
  }
}

type Pattern = Pick<FaultRule, 'method' | 'path' | 'object' | 'contains'>;

/** Whether a rule matches a request. A member that the rule lacks matches everything. */
export function matchesRule(rule: Pattern, target: FaultTarget): boolean {
  if (rule.method && rule.method.toUpperCase() !== target.method) return false;
  if (rule.object && rule.object !== target.object) return false;
  if (rule.contains && !target.text.includes(rule.contains)) return false;
  return !rule.path || target.target.includes(rule.path) || matchesPattern(rule.path, target.target);
}

function matchesPattern(source: string, target: string): boolean {
  try {
    return new RegExp(source).test(target);
  } catch {
    return false;
  }
}
