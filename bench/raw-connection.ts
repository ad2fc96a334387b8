import { connect, type Socket } from 'node:net';

export interface RawAnswer {
  /** 0 = the connection ended before the answer. */
  status: number;
  /** Null = without the header. */
  retryAfterSeconds: number | null;
}

const END_OF_HEAD = '\r\n\r\n';

/**
 * A keep-alive connection with one request at a time. A client library would need a whole core for a flood. It understands
 * answers with Content-Length only.
 */
export class RawConnection {
  /** Resolves when the connection is open, or has ended. */
  readonly opened: Promise<unknown>;
  private readonly socket: Socket;
  private received: Buffer = Buffer.alloc(0);
  private isWaiting = false;

  constructor(
    port: number,
    private readonly onAnswer: (answer: RawAnswer) => void,
    private readonly onEnd: () => void,
  ) {
    this.socket = connect(port, '127.0.0.1').setNoDelay(true);
    this.socket.on('data', this.read);
    this.opened = new Promise((resolve) => this.socket.once('connect', resolve).once('close', resolve));
    // 'close' follows.
    this.socket.on('error', () => {});
    this.socket.once('close', () => {
      if (this.isWaiting) this.answer({ status: 0, retryAfterSeconds: null });
      this.onEnd();
    });
  }

  send(request: string): void {
    this.isWaiting = true;
    this.socket.write(request, 'latin1');
  }

  /** A client that leaves without a word. */
  destroy(): void {
    this.isWaiting = false;
    this.socket.destroy();
  }

  private readonly read = (bytes: Buffer) => {
    this.received = this.received.length === 0 ? bytes : Buffer.concat([this.received, bytes]);
    const headLength = this.received.indexOf(END_OF_HEAD);
    if (headLength < 0) return;
    const head = this.received.toString('latin1', 0, headLength).toLowerCase();
    const length = headLength + END_OF_HEAD.length + (numberIn(head, 'content-length: ') ?? 0);
    if (this.received.length < length) return;
    this.received = Buffer.alloc(0);
    this.answer({ status: Number(head.slice(9, 12)), retryAfterSeconds: numberIn(head, 'retry-after: ') });
  };

  private answer(answer: RawAnswer): void {
    this.isWaiting = false;
    this.onAnswer(answer);
  }
}

function numberIn(head: string, field: string): number | null {
  const at = head.indexOf(field);
  return at < 0 ? null : Number.parseInt(head.slice(at + field.length), 10);
}
