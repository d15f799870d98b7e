import { isId } from '../../kit/ids.ts';
import { integer, list, variable, type ValuesOf } from '../../kit/variable.ts';

/** Which projects are named. Throws for what is no id. */
function projects(value: string | undefined): (projectId: string) => boolean {
  const named = list(value);
  const odd = named.find((one) => one !== 'all' && !isId(one));
  if (odd !== undefined) throw new Error(`names ${odd}: it takes ids of projects, or \`all\``);
  const ids = new Set(named.map((one) => one.toLowerCase()));
  return ids.has('all') ? () => true : (projectId) => ids.has(projectId);
}

/** Of writes. */
export const writeLimits = {
  bodyBytes: variable({
    name: 'SVC_BODY_LIMIT_BYTES',
    default: String(10 * 1024 * 1024),
    read: integer(1024, 1024 ** 3),
    about:
      'The largest body of a write, in bytes. The management surface takes 1 MiB, or less if this is less, 2 MiB for a manifest, whose text has at most 1 MiB, 32 MiB for an import, and 16 KiB where anybody may call, such as to sign in; the proxy has no such limit.',
  }),
  recordBytes: variable({
    name: 'SVC_RECORD_LIMIT_BYTES',
    default: String(1024 * 1024),
    read: integer(1024, 1024 ** 3),
    about: 'The largest record of a write, in bytes.',
  }),
  nesting: variable({
    name: 'SVC_NESTING_LIMIT',
    default: '100',
    read: integer(1, 1000),
    about: 'How deep a record may be nested.',
  }),
  mappedOnlyIn: variable({
    name: 'SVC_MAPPED_FIELDS_ONLY',
    read: projects,
    about:
      'Projects by their ids, separated by commas, or `all`. Where a write of theirs inherits the mapping, fields are left out that the manifest and the customer’s config do not name for reading; its answer names them. By default they are sent under the names that they have.',
  }),
  lateEffectMs: variable({
    name: 'SVC_LATE_EFFECT_MS',
    read: (value): number | undefined => (value === undefined ? undefined : integer(0, 3_600_000)(value)),
    about:
      'How long after its answer was lost a create may still take effect at the provider, in milliseconds: until then it is not called undone, nor sent again unless its unique value is enforced. By default the longest that the provider works on a request (HubSpot 100 s, Salesforce 10 minutes).',
  }),
};

declare module '../../kit/ground.ts' {
  interface Limits extends ValuesOf<typeof writeLimits> {}
}
