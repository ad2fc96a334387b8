const HEADER_BYTES = 12;
const CNAME = 5;
const LONG_NAME = Buffer.concat([Buffer.from('\x01a'.repeat(126)), Buffer.of(0)]);

/** The header and the question of a query, as an answer with this number of records. */
export function answerHead(query: Buffer, records: number): Buffer {
  const head = Buffer.from(query.subarray(0, query.indexOf(0, HEADER_BYTES) + 5));
  head.writeUInt16BE(0x8400, 2);
  head.writeUInt16BE(records, 6);
  head.writeUInt32BE(0, 8);
  return head;
}

/** A record in wire format. */
export function wireRecord(name: Buffer, type: number, data: Buffer): Buffer {
  const fixed = Buffer.alloc(10);
  fixed.writeUInt16BE(type, 0);
  fixed.writeUInt16BE(1, 2);
  fixed.writeUInt16BE(data.length, 8);
  return Buffer.concat([name, fixed, data]);
}

/** A compression pointer to a place in the message. */
export function pointerTo(place: number): Buffer {
  return Buffer.of(0xc0 | (place >> 8), place & 0xff);
}

/** An answer whose records all point to one name of 126 labels; 4,600 of them fill 64 KB. */
export function compressedFlood(query: Buffer, records: number): Buffer {
  const head = answerHead(query, records);
  const first = wireRecord(pointerTo(HEADER_BYTES), CNAME, LONG_NAME);
  const pointer = pointerTo(head.length + first.length - LONG_NAME.length);
  const record = wireRecord(pointer, CNAME, pointer);
  return Buffer.concat([head, first, Buffer.alloc((records - 1) * record.length, record)]);
}
