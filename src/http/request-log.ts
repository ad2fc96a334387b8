import type { FastifyBaseLogger } from 'fastify';

type Method = 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'silent';

/** The logger of one request, made when it is first used: most requests have but one line, which says all by itself. */
export class RequestLog {
  private made: FastifyBaseLogger | null = null;

  constructor(
    private readonly parent: FastifyBaseLogger,
    private readonly bindings: Record<string, unknown>,
  ) {}

  get level() {
    return this.parent.level;
  }

  child(...rest: Parameters<FastifyBaseLogger['child']>): FastifyBaseLogger {
    return this.own.child(...rest);
  }

  fatal(...line: unknown[]): void {
    this.write('fatal', line);
  }

  error(...line: unknown[]): void {
    this.write('error', line);
  }

  warn(...line: unknown[]): void {
    this.write('warn', line);
  }

  info(...line: unknown[]): void {
    this.write('info', line);
  }

  debug(...line: unknown[]): void {
    this.write('debug', line);
  }

  trace(...line: unknown[]): void {
    this.write('trace', line);
  }

  silent(...line: unknown[]): void {
    this.write('silent', line);
  }

  private get own(): FastifyBaseLogger {
    this.made ??= this.parent.child(this.bindings);
    return this.made;
  }

  private write(method: Method, line: unknown[]): void {
    const { own } = this;
    (own[method] as (...line: unknown[]) => void).apply(own, line);
  }
}
