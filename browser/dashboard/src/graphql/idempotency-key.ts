/** A new value for the header `Idempotency-Key`. `randomUUID` exists only on secure pages, and a gateway may be on plain HTTP. */
export function newIdempotencyKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('');
}
