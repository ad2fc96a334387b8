import type { KeptBody } from './kept-body.js';

/** Bodies by name, each made at its first request. The names must be few: none is forgotten. */
export class KeptBodies {
  private readonly bodies = new Map<string, Promise<KeptBody>>();

  /** Rejects as `make` does; then nothing is kept, so the next request tries again. */
  of(name: string, make: () => Promise<KeptBody>): Promise<KeptBody> {
    const known = this.bodies.get(name);
    if (known) return known;
    const body = make();
    this.bodies.set(name, body);
    body.catch(() => this.bodies.delete(name));
    return body;
  }
}
