const checksum = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ012345';

/**
 * The 18-character form of a record id. Of each five characters the checksum says which are upper case, the first in the
 * lowest bit; so an id whose letters changed their case is put right by it. What is no record id stays as it is.
 */
export function canonicalId(id: string): string {
  if (!isId(id)) return id;
  const cased = id.length === 15 ? id : restoreCase(id);
  return cased + suffixOf(cased);
}

/** An id in its form of 18 characters and in that of 15. */
export function idForms(id: string): readonly string[] {
  const long = canonicalId(id);
  return isId(id) ? [long, long.slice(0, 15)] : [];
}

function isId(text: string): boolean {
  return /^[a-z0-9]{15}(?:[a-z0-5]{3})?$/i.test(text);
}

function restoreCase(id: string): string {
  const isUpper = (at: number): boolean => {
    const mask = checksum.indexOf(id.charAt(15 + Math.floor(at / 5)).toUpperCase());
    return ((mask >> (at % 5)) & 1) === 1;
  };
  return Array.from(id.slice(0, 15), (character, at) =>
    isUpper(at) ? character.toUpperCase() : character.toLowerCase(),
  ).join('');
}

function suffixOf(id: string): string {
  return [0, 5, 10].map((from) => checksum.charAt(maskOf(id.slice(from, from + 5)))).join('');
}

function maskOf(part: string): number {
  const bits = Array.from(part, (character, at): number => (/[A-Z]/.test(character) ? 1 << at : 0));
  return bits.reduce((mask, bit) => mask | bit, 0);
}
