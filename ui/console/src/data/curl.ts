/** A request, as it can be sent again by hand. */
export interface Call {
  method: string;
  /** What the path stands below; a name in double braces, as in the catalogue of providers, is a variable of the shell. */
  base: string;
  path: string;
  headers?: Readonly<Record<string, string | readonly string[]>>;
  body?: string | undefined;
}

/** The header with the credential, whose value ends in `$TOKEN`. */
export interface CredentialHeader {
  name: string;
  prefix: string;
}

export const bearer: CredentialHeader = { name: 'Authorization', prefix: 'Bearer ' };

const encoder = new TextEncoder();

/** What a terminal could take for keys where a command is pasted; tab and line feed stay. */
// oxlint-disable-next-line no-control-regex
const controls = /([\u0001-\u0008\u000b-\u001f\u007f-\u009f]+)/;

function printed(text: string): string {
  const bytes = [...encoder.encode(text)].map((byte) => `\\${byte.toString(8).padStart(3, '0')}`);
  return `"$(printf '${bytes.join('')}')"`;
}

/** Text as one word of any POSIX shell, which runs and expands nothing of it. No word of a shell holds NUL: it is left out. */
export function quoted(text: string): string {
  const parts = text.replaceAll('\0', '').split(controls);
  const words = parts.map((part, index) => {
    if (part === '') return '';
    return index % 2 === 1 ? printed(part) : `'${part.replaceAll("'", String.raw`'\''`)}'`;
  });
  return words.join('') || "''";
}

/** A name in double braces that nobody gave a value is a variable. */
const filled = (base: string): string =>
  base
    .split(/\{\{(\w+)\}\}/)
    .map((part, index) => (index % 2 === 1 ? `"$${part.toUpperCase()}"` : part && quoted(part)))
    .join('');

/** curl makes these itself; the credential is not kept. */
const ownHeaders = new Set(['authorization', 'content-length', 'host', 'transfer-encoding']);

/** The command that sends the request, with the credential in `$TOKEN`. */
export function curlOf(
  { method, base, path, headers = {}, body }: Call,
  { name, prefix }: CredentialHeader = bearer,
): string {
  const told = Object.entries(headers).filter(([one]) => !ownHeaders.has(one.toLowerCase()));
  const lines = told.flatMap(([one, value]) => [value].flat().map((each) => headerOf(one, each)));
  const hasType = told.some(([one]) => one.toLowerCase() === 'content-type');
  return [
    // Nothing of the address is a pattern, and none of its dots a step upwards.
    `curl --globoff --path-as-is -X ${quoted(method)} ${filled(base)}${quoted(path)}`,
    `-H ${quoted(`${name}: ${prefix}`)}"$TOKEN"`,
    ...lines.map((line) => `-H ${quoted(line)}`),
    // Otherwise curl says that the body is a form.
    ...(body === undefined || hasType ? [] : [`-H 'Content-Type:'`]),
    ...(body === undefined ? [] : [`--data-raw ${quoted(body)}`]),
  ].join(' \\\n  ');
}

/** A header without a value has a semicolon for curl. */
const headerOf = (name: string, value: string): string => (value === '' ? `${name};` : `${name}: ${value}`);
