const SLOTS = 1 << 16;

/**
 * Which texts were seen before, roughly: a table of their hashes, in which a newer text may take an older one's place.
 * 256 KB, whatever is asked.
 */
export class Doorkeeper {
  private readonly hashes = new Int32Array(SLOTS);

  /** Whether the text was seen before; from now on it was. */
  note(text: string): boolean {
    const hash = hashOf(text);
    const slot = hash & (SLOTS - 1);
    const isKnown = this.hashes[slot] === hash;
    this.hashes[slot] = hash;
    return isKnown;
  }
}

/** FNV-1a. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return hash | 0;
}
