const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const base32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ012345';

/** Three characters that say which of each five id characters are upper case, lowest bit first. */
export function idSuffix(id15: string): string {
  let suffix = '';
  for (let chunk = 0; chunk < 3; chunk += 1) {
    let bits = 0;
    for (let i = 0; i < 5; i += 1) {
      const c = id15.charCodeAt(chunk * 5 + i);
      if (c >= 65 && c <= 90) bits |= 1 << i;
    }
    suffix += base32.charAt(bits);
  }
  return suffix;
}

/** Makes the 18-character id number `n` of a key prefix; ids of one prefix sort in order of `n`. */
export function makeId(prefix: string, n: number, pod = 'Hs0'): string {
  let digits = '';
  let rest = n;
  for (let i = 0; i < 9; i += 1) {
    digits = base62.charAt(rest % 62) + digits;
    rest = Math.floor(rest / 62);
  }
  const id15 = prefix + pod + digits;
  return id15 + idSuffix(id15);
}

/**
 * Reads a 15- or 18-character id and returns it with 18; undefined when it is not an id. The suffix
 * of an 18-character id restores the case of the first 15, as Salesforce does.
 */
export function normalizeId(text: string): string | undefined {
  if (!/^[A-Za-z0-9]{15}([A-Za-z0-9]{3})?$/.test(text)) return undefined;
  if (text.length === 15) return text + idSuffix(text);
  const suffix = text.slice(15).toUpperCase();
  let id = '';
  for (let i = 0; i < 15; i += 1) {
    const bits = base32.indexOf(suffix.charAt(Math.floor(i / 5)));
    if (bits < 0) return undefined;
    const c = text.charAt(i);
    id += (bits >> (i % 5)) & 1 ? c.toUpperCase() : c.toLowerCase();
  }
  return id + suffix === id + idSuffix(id) ? id + suffix : undefined;
}
