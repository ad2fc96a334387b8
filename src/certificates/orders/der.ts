/** Tags of ITU-T X.690. */
export const [INTEGER, BITS, OCTETS, SEQUENCE, SET] = [0x02, 0x03, 0x04, 0x30, 0x31];
/** Algorithm identifiers and object identifiers, encoded. */
export const ECDSA_WITH_SHA256 = Buffer.from('300a06082a8648ce3d040302', 'hex');
export const ALTERNATIVE_NAME = Buffer.from('0603551d11', 'hex');

/** One element, encoded. Its parts have less than 64 KB. */
export function der(tag: number, ...parts: Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  // DER demands the shortest form.
  const form = length < 0x80 ? [] : length < 0x100 ? [0x81] : [0x82, length >> 8];
  return Buffer.concat([Buffer.from([tag, ...form, length & 0xff]), content]);
}

/** The elements that follow each other in `bytes`. Throws `RangeError` if these are no DER. */
export function elementsOf(bytes: Buffer): { tag: number; content: Buffer }[] {
  const elements = [];
  for (let at = 0; at < bytes.length; ) {
    const tag = bytes.readUInt8(at);
    const short = bytes.readUInt8(at + 1);
    const lengthBytes = short < 0x80 ? 0 : short - 0x80;
    const length = short < 0x80 ? short : bytes.readUIntBE(at + 2, lengthBytes);
    const start = at + 2 + lengthBytes;
    at = start + length;
    if (at > bytes.length) throw new RangeError('an element ends after its container');
    elements.push({ tag, content: bytes.subarray(start, at) });
  }
  return elements;
}

/** The content of the first element with this tag. Throws `RangeError` if there is none. */
export function contentOf(bytes: Buffer, tag: number): Buffer {
  const found = elementsOf(bytes).find((element) => element.tag === tag);
  if (!found) throw new RangeError('an element is missing');
  return found.content;
}
