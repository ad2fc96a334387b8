import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

interface RawClientOptions {
  port: number;
  /** Whether it reads incoming bytes. */
  reads?: boolean;
}

/** A TCP connection that sends raw bytes and records when the gateway closed it. */
export class RawClient {
  readonly socket: Socket;
  received = '';
  private readonly openedAt = performance.now();
  private closedAt: number | null = null;

  constructor({ port, reads = true }: RawClientOptions) {
    this.socket = connect(port, '127.0.0.1').setEncoding('latin1');
    this.socket.on('error', () => {});
    this.socket.once('close', () => {
      this.closedAt = performance.now();
    });
    if (reads) {
      this.socket.on('data', (text: string) => {
        this.received += text;
      });
    } else this.socket.pause();
  }

  static async open(options: RawClientOptions): Promise<RawClient> {
    const client = new RawClient(options);
    await once(client.socket, 'connect');
    return client;
  }

  /** Milliseconds from the first packet to the end; null = still open. A client that does not read cannot tell. */
  get lastedMs(): number | null {
    return this.closedAt === null ? null : this.closedAt - this.openedAt;
  }

  send(bytes: string): this {
    this.socket.write(bytes, 'latin1');
    return this;
  }

  leave(): void {
    this.socket.destroy();
  }
}
