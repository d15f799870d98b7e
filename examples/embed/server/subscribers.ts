/** Somebody who gets mail of a customer's. */
export interface Subscriber {
  id: string;
  email: string;
  name: string;
  lastMail: string;
}

/** A record of a message, as the manifest maps it. */
interface Delivered {
  id?: string;
  deleted?: true;
  fields: { email?: unknown };
  mappedFields: { name?: unknown; lastMail?: unknown };
  raw: Record<string, unknown>;
}
/** What svc sends to the webhook. */
export interface Message {
  groupRef: string;
  objectName: string;
  result?: Delivered[];
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '');

/** Kept in memory here; a real application has a table, with the record's id as its key: a message may come twice. */
export class Subscribers {
  readonly #groups = new Map<string, Map<string, Subscriber>>();

  list(groupRef: string): Subscriber[] {
    return [...(this.#groups.get(groupRef)?.values() ?? [])].toSorted((a, b) =>
      a.email.localeCompare(b.email),
    );
  }

  receive({ groupRef, objectName, result = [] }: Message): void {
    if (objectName !== 'subscribers') return;
    const group = this.#groups.get(groupRef) ?? new Map<string, Subscriber>();
    this.#groups.set(groupRef, group);
    for (const { id, deleted, fields, mappedFields, raw } of result) {
      const key = id ?? text(raw['id']);
      if (deleted) group.delete(key);
      else
        group.set(key, {
          id: key,
          email: text(fields.email),
          name: text(mappedFields.name),
          lastMail: text(mappedFields.lastMail),
        });
    }
  }

  mailed(groupRef: string, id: string, subject: string): void {
    const known = this.#groups.get(groupRef)?.get(id);
    if (known) known.lastMail = subject;
  }
}
