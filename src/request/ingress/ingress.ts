import { isIP } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Host, HostIndex } from '../../domains/hosts/host-index.js';
import { AppError } from '../../ground/kernel/errors.js';
import type { ProjectSlugs } from '../../tenants/projects/project-slugs.js';
import { pathOf } from '../http/early-refusals.js';

const HEALTH = /^\/(?:healthz|readyz)(?:\?|$)/;
const CHALLENGE = /^\/\.well-known\/acme-challenge\/([^?]*)(?:\?|$)/;
const HTTPS_PORT = 443;
/** RFC 9110 §15.4.9: the client repeats the request with its method and body. */
const TO_HTTPS = 308;
const PLATFORM = 'platform';
const ANY_KEY = { projectId: null, origin: null, canonicalUrl: null, isServed: null };

/** The answer to an ACME challenge for a host; null = there is no such challenge. RFC 8555 §8.3. */
export type ChallengeAnswer = (token: string, hostname: string) => Promise<string | null>;

/** The owner of a host: this platform, the project of a generated subdomain (its id), an attached domain, or nobody. */
type HostOwner = typeof PLATFORM | bigint | Host | null;

interface PlatformNames {
  /** Generated subdomains are one label below it. */
  platformHost: string;
  /** Other names of the platform itself. */
  aliases: readonly string[];
}

/** DOOR 4: routes, redirects or refuses a request by its host, before the other doors see it. */
export class Ingress {
  constructor(
    private readonly router: HostRouter,
    private readonly addresses: HostAddresses,
    private readonly challengeAnswer: ChallengeAnswer,
  ) {}

  /**
   * Sets `request.site`, or answers the request. Synchronous for platform hosts. Throws, or rejects with, `AppError misdirected`
   * for hosts that are not served, `AppError unavailable` when the host can't be looked up.
   */
  enter(request: FastifyRequest, reply: FastifyReply): Promise<void> | undefined {
    const { url = '/', socket } = request.raw;
    const encrypted = isEncrypted(request.raw);
    request.site = ANY_KEY;
    if (HEALTH.test(url)) return undefined;
    const hostname = hostnameOf(hostOf(request));
    const [, token] = encrypted ? [] : (CHALLENGE.exec(url) ?? []);
    if (token !== undefined && (request.method === 'GET' || request.method === 'HEAD')) {
      return this.challenge(token, hostname, reply);
    }
    if (encrypted && hostname !== hostnameOf((socket as TLSSocket).servername || '')) {
      return this.refuse(reply, misdirected('This connection was made for another host.'));
    }
    const owner = this.router.ownerOf(hostname);
    if (!(owner instanceof Promise)) return this.admit(owner, request, reply);
    return owner.then(
      (known) => this.admit(known, request, reply),
      (error) => this.refuse(reply, error),
    );
  }

  private admit(owner: HostOwner, request: FastifyRequest, reply: FastifyReply): Promise<void> | undefined {
    if (owner === null) return this.refuse(reply, misdirected('This host is not served here.'));
    if (owner === PLATFORM) return undefined;
    if (typeof owner === 'bigint') {
      request.site = this.siteOf(owner, request);
      return undefined;
    }
    if (!this.addresses.isReady(owner))
      return this.refuse(reply, misdirected('This host is not served here yet.'));
    const { redirect, projectId, hostname } = owner;
    if (schemeOf(request) !== 'https') {
      // Without the port of HTTPS there is nowhere to redirect to.
      if (this.addresses.redirectsToHttps)
        return redirectTo(reply, TO_HTTPS, this.addressOf(hostname, request));
      return this.refuse(reply, misdirected('This host is served over HTTPS only.'));
    }
    if (redirect) return redirectTo(reply, redirect.status, this.addressOf(redirect.to, request));
    request.site = this.siteOf(projectId, request);
    return undefined;
  }

  /** Call it only for a host that belongs to the project: the client chooses the Host header. */
  private siteOf(projectId: bigint, request: FastifyRequest) {
    const host = hostOf(request).toLowerCase();
    const primary = this.addresses.primaryOf(projectId);
    const isElsewhere = primary && primary.hostname !== hostnameOf(host);
    return {
      projectId,
      origin: `${schemeOf(request)}://${host}`,
      canonicalUrl: isElsewhere ? this.addressOf(primary.hostname, request) : null,
      isServed: async () => (await this.router.ownerOf(hostnameOf(host))) !== null,
    };
  }

  /** The same path and query on another host, byte for byte. The path begins with `/`, so it can't change the host. */
  private addressOf(hostname: string, { originalUrl }: FastifyRequest): string {
    return this.addresses.originOf(hostname) + pathOf(originalUrl);
  }

  private async challenge(token: string, hostname: string, reply: FastifyReply): Promise<void> {
    const answer = await this.challengeAnswer(token, hostname);
    if (answer === null) throw new AppError('not_found', 'There is no such challenge.');
    reply.header('cache-control', 'no-store').type('application/octet-stream').send(answer);
  }

  private refuse(reply: FastifyReply, reason: unknown): never {
    reply.header('connection', 'close');
    throw reason;
  }
}

/** Finds the owner of a host. */
export class HostRouter {
  private readonly platformNames: ReadonlySet<string>;
  private readonly suffix: string;

  constructor(
    { platformHost, aliases }: PlatformNames,
    private readonly index: HostIndex,
    private readonly slugs: ProjectSlugs,
  ) {
    this.platformNames = new Set(['', 'localhost', platformHost, ...aliases.map(hostnameOf)]);
    this.suffix = `.${platformHost}`;
  }

  /** `hostname` in the form of `hostnameOf`. Throws `AppError unavailable` when it can't be looked up now. */
  ownerOf(hostname: string): HostOwner | Promise<HostOwner> {
    if (this.platformNames.has(hostname) || isIP(hostname) !== 0) return PLATFORM;
    if (hostname.endsWith(this.suffix)) {
      const slug = hostname.slice(0, -this.suffix.length);
      if (!slug.includes('.')) return this.slugs.projectOf(slug);
    }
    if (this.index.isCurrent()) return this.index.findHost(hostname);
    return this.index.current().then(() => this.index.findHost(hostname));
  }
}

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

const misdirected = (message: string) => new AppError('misdirected', message);

async function redirectTo(reply: FastifyReply, status: number, location: string): Promise<void> {
  reply.code(status).header('location', location).send();
}

/**
 * The client's scheme. When a trusted proxy terminates TLS, the proxy reports it; any value but `https` counts as `http`. D-73.
 */
function schemeOf({ protocol, raw }: FastifyRequest): 'http' | 'https' {
  if (isEncrypted(raw)) return 'https';
  return protocol.toLowerCase() === 'https' ? 'https' : 'http';
}

/** The client's Host, with its port. When this process terminates TLS, a proxy's header can't change it. D-74. */
function hostOf(request: FastifyRequest): string {
  return isEncrypted(request.raw) ? (request.headers.host ?? '') : request.host;
}

const isEncrypted = ({ socket }: FastifyRequest['raw']) => (socket as TLSSocket).encrypted;

/** The name in a Host header: in lower case, without port, one trailing dot, or the brackets of an IPv6 address. */
export function hostnameOf(header: string): string {
  if (header.startsWith('[')) return header.slice(1, header.indexOf(']'));
  const colon = header.indexOf(':');
  const name = colon === -1 ? header : header.slice(0, colon);
  return (name.endsWith('.') ? name.slice(0, -1) : name).toLowerCase();
}
