/** A variable: meaning, reader and default. docs/configuration.md derives from it. */
export interface Variable<Value> {
  name: string;
  about: string;
  /** Shown in the documentation; `read` gets undefined when the variable is absent and has no default. */
  default?: string;
  secret?: boolean;
  /** What is wrong with it when it is set and empty; any other variable is then as if it were absent. */
  ifEmpty?: string;
  read(text: string | undefined): Value;
}

/** What a set of variables is read as. */
export type ValuesOf<Specs> = {
  [Key in keyof Specs]: Specs[Key] extends Variable<infer Value> ? Value : never;
};

export const variable = <Value>(spec: Variable<Value>): Variable<Value> => spec;

export const text = (value: string | undefined): string => value ?? '';
export const optional = (value: string | undefined): string | undefined => value;
export const list = (value: string | undefined): string[] =>
  (value ?? '')
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');

export function integer(min: number, max: number): (value: string | undefined) => number {
  return (value) => {
    const number = Number(value);
    if (!Number.isInteger(number) || number < min || number > max)
      throw new Error(`must be an integer from ${min} to ${max}`);
    return number;
  };
}

export function flag(value: string | undefined): boolean {
  if (value === 'true' || value === '1') return true;
  if (value === 'false' || value === '0') return false;
  throw new Error('must be true or false');
}

export function oneOf<Name extends string>(...names: Name[]): (value: string | undefined) => Name {
  return (value) => {
    const found = names.find((name) => name === value);
    if (found === undefined) throw new Error(`must be one of ${names.join(', ')}`);
    return found;
  };
}

export function httpUrl(value: string | undefined): string | undefined {
  if (value === undefined) return undefined;
  const url = URL.parse(value);
  if (!url || !/^https?:$/.test(url.protocol)) throw new Error('must be an http or https URL');
  return value.replace(/\/+$/, '');
}

/** The value holds a password: the fault does not repeat it. */
export function postgresUrl(value: string | undefined): string | undefined {
  if (value === undefined) return value;
  const url = URL.parse(value);
  if (url && /^postgres(ql)?:$/.test(url.protocol) && !isCutInPassword(url)) return value;
  throw new Error(
    'must be a URL such as postgres://user:password@host:5432/name; in a password @ : / ? # are written %40 %3A %2F %3F %23',
  );
}

/** Of a password with an unescaped `/`, `?` or `#` a part would be the host, which is looked up and told. A user in a parameter may have an `@`. */
function isCutInPassword({ pathname, search, hash }: URL): boolean {
  return hash !== '' || pathname.includes('@') || /@[^&]*\//.test(search);
}

/** `name=origin,name=origin`, each an origin without a path. */
export function origins(value: string | undefined): Record<string, string> {
  return Object.fromEntries(
    list(value).map((entry) => {
      const [name = '', url = ''] = entry.split(/=(.*)/s);
      const origin = URL.parse(url)?.origin;
      if (name === '' || !origin || origin === 'null') throw new Error(`"${entry}" is not <name>=<origin>`);
      return [name, origin];
    }),
  );
}
