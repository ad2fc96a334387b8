/**
 * Completes one handshake per iteration of the event loop, so that requests are answered in between. A signature and a key
 * agreement take milliseconds, and a client can have hundreds of handshakes ready at once.
 */
export class HandshakeTurns {
  private readonly waiting: (() => void)[] = [];

  next(): Promise<void> {
    if (this.waiting.length === 0) setImmediate(() => this.give());
    return new Promise((resolve) => this.waiting.push(resolve));
  }

  private give(): void {
    this.waiting.shift()?.();
    if (this.waiting.length > 0) setImmediate(() => this.give());
  }
}
