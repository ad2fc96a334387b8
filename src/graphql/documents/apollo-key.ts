/** The SHA-256 of a source. Apollo's keys put `apq:`, or a name of the schema, before it. */
export function hashIn(key: string): string {
  return key.slice(key.lastIndexOf(':') + 1);
}
