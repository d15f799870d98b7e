/** OIDs of the types of elements. */
const bytea = 17;
const text = 25;

/**
 * A `bytea[]` parameter in PostgreSQL's binary form. The driver would send an array of Buffers as hexadecimal text: twice the
 * work here, and more than three times as much there.
 */
export function byteaArray(items: readonly (Buffer | null)[]): Buffer {
  return binaryArray(bytea, items);
}

/** A `text[]` parameter in the same form: the driver would escape each quote and read the texts twice. */
export function textArray(items: readonly (string | null)[]): Buffer {
  return binaryArray(
    text,
    items.map((item) => (item === null ? null : Buffer.from(item))),
  );
}

function binaryArray(type: number, items: readonly (Buffer | null)[]): Buffer {
  const header = Buffer.alloc(items.length === 0 ? 12 : 20);
  header.writeInt32BE(items.length === 0 ? 0 : 1, 0);
  header.writeInt32BE(items.includes(null) ? 1 : 0, 4);
  header.writeInt32BE(type, 8);
  if (items.length > 0) {
    header.writeInt32BE(items.length, 12);
    // The index of the first element.
    header.writeInt32BE(1, 16);
  }
  return Buffer.concat([header, ...items.flatMap((item) => [lengthOf(item), item ?? Buffer.alloc(0)])]);
}

function lengthOf(item: Buffer | null): Buffer {
  const length = Buffer.alloc(4);
  length.writeInt32BE(item?.length ?? -1);
  return length;
}
