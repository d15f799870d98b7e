/** In the place of what somebody may not see. */
export const hidden = '…';

/** What is said of an address that was copied from where parts of it are hidden. */
export const hiddenFault = `holds ${hidden} in the place of what is not shown: write the whole URL`;

/** An address as whoever may see no secrets sees it: without a user, a password and the values of its query, such as a token. */
export function withoutSecretsOfUrl(url: string): string {
  const [place, query] = splitAt(url, '?');
  const shown = place.replace(/^(\w+:\/\/)[^/]*@/, `$1${hidden}@`);
  if (query === undefined) return shown;
  const [parameters] = splitAt(query, '#');
  return `${shown}?${parameters.split('&').map(withoutValue).join('&')}`;
}

/** The values that `withoutSecretsOfUrl` takes out of a query, as they stand there and as a receiver reads them. */
export function secretsOfUrl(url: string): string[] {
  if (!URL.canParse(url)) return [];
  const { search, searchParams } = new URL(url);
  const written = search
    .slice(1)
    .split('&')
    .map((parameter) => splitAt(parameter, '=')[1] ?? parameter);
  const read = [...searchParams].map(([name, value]) => value || name);
  return [...written, ...read];
}

/** A parameter without a name is all value. */
function withoutValue(parameter: string): string {
  const [name, value] = splitAt(parameter, '=');
  return value === undefined ? parameter && hidden : `${name}=${value && hidden}`;
}

function splitAt(text: string, mark: string): [string, string?] {
  const at = text.indexOf(mark);
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}
