import type { TLSSocket } from 'node:tls';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Host } from '../domains/host-table.js';
import { AppError } from '../errors.js';
import { originForm } from '../http/request-guard.js';
import { hostOf, isEncrypted, schemeOf } from './client-address.js';
import { type HostOwner, type HostRouter, hostnameOf } from './host-router.js';

const HEALTH = /^\/(?:healthz|readyz)(?:\?|$)/;
const CHALLENGE = /^\/\.well-known\/acme-challenge\/([^?]*)(?:\?|$)/;
/** RFC 9110 §15.4.9: the request is repeated as it was, with its body. */
const TO_HTTPS = 308;
const HTTPS_PORT = 443;
const ANY_KEY = { projectId: null, origin: null };

/** The answer to an ACME challenge for a host; null = there is no such challenge. RFC 8555 §8.3. */
export type ChallengeAnswer = (token: string, hostname: string) => Promise<string | null>;

interface IngressSettings {
  /** TLS ends in this process: hosts need a certificate in force. Otherwise whoever ends it has one. */
  endsTls: boolean;
  /** Where clients reach hosts over HTTPS; null = nowhere, as far as this process knows. */
  publicHttpsPort: number | null;
  /** Adds what belongs on an answer that is given before the doors see the request; may refuse it otherwise. */
  onEarlyRefusal: (request: FastifyRequest, reply: FastifyReply) => Promise<void>;
}

/** DOOR 4: what becomes of a request by the host it is for, before the other doors see it. */
export class Ingress {
  constructor(
    private readonly router: HostRouter,
    private readonly challengeAnswer: ChallengeAnswer,
    private readonly settings: IngressSettings,
    private readonly now: () => number,
  ) {}

  /**
   * Sets `request.site`, or answers. Nothing is waited for on platform hosts. Throws `AppError misdirected` for hosts
   * that are not served, `AppError unavailable` when that can't be known.
   */
  enter(request: FastifyRequest, reply: FastifyReply): Promise<void> | undefined {
    const { url = '/', socket } = request.raw;
    const encrypted = isEncrypted(request.raw);
    request.site = ANY_KEY;
    if (HEALTH.test(url)) return undefined;
    const hostname = hostnameOf(hostOf(request));
    const [, token] = encrypted ? [] : (CHALLENGE.exec(url) ?? []);
    if (token !== undefined && (request.method === 'GET' || request.method === 'HEAD')) {
      return this.challenge(token, hostname, request, reply);
    }
    if (encrypted && hostname !== hostnameOf((socket as TLSSocket).servername || '')) {
      return this.refuse(request, reply, misdirected('This connection was made for another host.'));
    }
    const owner = this.router.ownerOf(hostname);
    if (!(owner instanceof Promise)) return this.admit(owner, request, reply);
    return owner.then(
      (known) => this.admit(known, request, reply),
      (error) => this.refuse(request, reply, error),
    );
  }

  private admit(
    owner: HostOwner | null,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<void> | undefined {
    if (owner === null) return this.refuse(request, reply, misdirected('This host is not served here.'));
    if (owner.kind === 'platform') return undefined;
    if (owner.kind === 'project') {
      request.site = siteOf(owner.projectId, request);
      return undefined;
    }
    const { host } = owner;
    if (!this.isReady(host))
      return this.refuse(request, reply, misdirected('This host is not served here yet.'));
    if (schemeOf(request) !== 'https') return this.secure(host, request, reply);
    if (host.redirect)
      return redirect(reply, host.redirect.status, this.addressOf(host.redirect.to, request));
    request.site = siteOf(host.projectId, request);
    return undefined;
  }

  private isReady({ certificateEndsAtMs, isVerified }: Host): boolean {
    return this.settings.endsTls ? certificateEndsAtMs > this.now() : isVerified;
  }

  private secure(host: Host, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    if (this.settings.publicHttpsPort === null) {
      return this.refuse(request, reply, misdirected('This host is served over HTTPS only.'));
    }
    return redirect(reply, TO_HTTPS, this.addressOf(host.hostname, request));
  }

  /** The same path and query on another host, byte for byte: what follows the host can't change it, as it begins with `/`. */
  private addressOf(hostname: string, { originalUrl, headers }: FastifyRequest): string {
    const url = originForm(originalUrl, headers.host);
    const port = this.settings.publicHttpsPort ?? HTTPS_PORT;
    const path = url.startsWith('/') ? url : '/';
    return `https://${hostname}${port === HTTPS_PORT ? '' : `:${port}`}${path}`;
  }

  private async challenge(
    token: string,
    hostname: string,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<void> {
    const answer = await this.challengeAnswer(token, hostname);
    if (answer === null) {
      await this.settings.onEarlyRefusal(request, reply);
      throw new AppError('not_found', 'There is no such challenge.');
    }
    reply.header('cache-control', 'no-store').type('application/octet-stream').send(answer);
  }

  private async refuse(request: FastifyRequest, reply: FastifyReply, reason: unknown): Promise<never> {
    reply.header('connection', 'close');
    await this.settings.onEarlyRefusal(request, reply);
    throw reason;
  }
}

/** Only after the host was found to be the project's: it is the client's to choose. */
function siteOf(projectId: bigint, request: FastifyRequest) {
  return { projectId, origin: `${schemeOf(request)}://${hostOf(request).toLowerCase()}` };
}

function misdirected(message: string): AppError {
  return new AppError('misdirected', message);
}

async function redirect(reply: FastifyReply, status: number, location: string): Promise<void> {
  reply.code(status).header('location', location).send();
}
