import type { AuditEntry } from '@svc/client';

/** Who did it, as people say it. */
export function whoOf({ kind, email, keyId, consumerRef }: AuditEntry['actor']): string {
  if (kind === 'person') return email ?? 'Somebody';
  if (kind === 'operator') return 'The operator, on the server';
  if (kind === 'service') return 'svc itself';
  if (kind === 'jwt') return consumerRef ?? 'A person in your front end';
  return keyId === undefined ? 'An API key' : `API key …${keyId.slice(-10)}`;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** How what was changed is called, where the entry tells it. */
export function nameOf({ details = {} }: AuditEntry): string {
  const name = details['name'] ?? details['label'] ?? details['email'];
  const now = isObject(name) ? name['after'] : name;
  return typeof now === 'string' ? now : '';
}

export interface Change {
  name: string;
  before?: unknown;
  after?: unknown;
}

/** What was changed, name by name: what it was and what it is where both are told, else what it is now. */
export function changesOf({ details = {} }: AuditEntry): { told: Change[]; hasBefore: boolean } {
  const told = Object.entries(details).map(([name, value]): Change =>
    isObject(value) && 'before' in value && 'after' in value
      ? { name, before: value['before'], after: value['after'] }
      : { name, after: value },
  );
  return { told, hasBefore: told.some((one) => 'before' in one) };
}
