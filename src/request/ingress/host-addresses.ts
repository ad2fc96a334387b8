import type { Host } from '../../domains/hosts/host.js';
import type { HostIndex } from '../../domains/hosts/host-index.js';

const HTTPS_PORT = 443;

interface HostSettings {
  /** This process terminates TLS, so hosts need a valid certificate here. Otherwise a proxy has the certificates. */
  endsTls: boolean;
  /** The HTTPS port that clients use; null = unknown or none. */
  publicHttpsPort: number | null;
}

/** The HTTPS addresses of attached hosts. */
export class HostAddresses {
  constructor(
    private readonly index: HostIndex,
    private readonly settings: HostSettings,
    private readonly now: () => number,
  ) {}

  /** Requests over HTTP are redirected to HTTPS. Otherwise they are refused: the port of HTTPS is unknown. */
  get redirectsToHttps(): boolean {
    return this.settings.publicHttpsPort !== null;
  }

  isReady({ certificateEndsAtMs, isVerified }: Host): boolean {
    return this.settings.endsTls ? certificateEndsAtMs > this.now() : isVerified;
  }

  originOf(hostname: string): string {
    const port = this.settings.publicHttpsPort ?? HTTPS_PORT;
    return `https://${hostname}${port === HTTPS_PORT ? '' : `:${port}`}`;
  }

  /** The project's primary domain, if it is served now. */
  primaryOf(projectId: bigint): Host | null {
    const primary = this.index.primaryOf(projectId);
    return primary && this.isReady(primary) ? primary : null;
  }
}
