import { isUtf8 } from 'node:buffer';

/** The place of the first byte that is no part of a character. */
export function firstInvalidByte(bytes: Uint8Array): number {
  const step = 1024;
  let at = 0;
  for (let end = step; end < bytes.length; end = at + step) {
    while ((bytes[end] ?? 0) >> 6 === 0b10 && end > at) end -= 1;
    if (end === at || !isUtf8(bytes.subarray(at, end))) break;
    at = end;
  }
  for (;;) {
    const first = bytes[at] ?? 0;
    const size = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    if (at >= bytes.length || !isUtf8(bytes.subarray(at, at + size))) return at;
    at += size;
  }
}
