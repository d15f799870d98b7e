/** A named SQL text: prepared once per connection, listed so that a test can PREPARE every one of them. */
export interface Statement {
  readonly name: string;
  readonly text: string;
  /** What it writes tells of a request, and is nothing that one asks for. */
  readonly isNote?: boolean;
}

const registry = new Map<string, Statement>();

/** Declares a statement. Names are unique over the process and at most 63 bytes (PostgreSQL's identifier limit). */
export function statement(name: string, text: string, { isNote = false } = {}): Statement {
  if (registry.has(name)) throw new Error(`statement ${name} is declared twice`);
  if (Buffer.byteLength(name) > 63) throw new Error(`statement name ${name} is longer than 63 bytes`);
  const declared = { name, text, isNote };
  registry.set(name, declared);
  return declared;
}

/** Every statement declared by the modules imported so far. */
export function declaredStatements(): Statement[] {
  return [...registry.values()];
}
