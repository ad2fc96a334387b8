import type { TLSSocket } from 'node:tls';
import type { FastifyRequest } from 'fastify';

/**
 * The scheme by which the client reached the gateway. A trusted proxy says it where TLS ends in front of this process; any
 * word but `http` and `https` does not count.
 */
export function schemeOf({ protocol, raw }: FastifyRequest): 'http' | 'https' {
  if (isEncrypted(raw)) return 'https';
  return protocol.toLowerCase() === 'https' ? 'https' : 'http';
}

/** The Host that the client sent, with its port. Over TLS of this process the certificate chose it, and no proxy can change it. */
export function hostOf(request: FastifyRequest): string {
  return isEncrypted(request.raw) ? (request.headers.host ?? '') : request.host;
}

export function isEncrypted({ socket }: FastifyRequest['raw']): boolean {
  return (socket as TLSSocket).encrypted;
}
