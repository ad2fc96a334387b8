import type { DnsServer } from '../../../src/ground/config/config.js';
import { type KnotServer, startKnot, type TestZone } from './knot.js';
import { startUnbound } from './unbound.js';

export interface DnssecRig {
  authoritative: DnsServer;
  /** Has the right DS of every signed zone. */
  validatingResolver: DnsServer;
  /** Has a DS of no key, as when a zone moved to another provider and its old DS stayed at the registrar. */
  brokenResolver: DnsServer;
  stop(): Promise<void>;
}

/** Starts real signed zones and two real resolvers: one with a valid chain of trust, one with a broken chain. */
export async function startDnssecRig(zones: TestZone[]): Promise<DnssecRig> {
  const started: { stop(): Promise<void> }[] = [];
  const kept = <T extends { stop(): Promise<void> }>(server: T): T => {
    started.push(server);
    return server;
  };
  const stop = async () => {
    for (const server of started.splice(0).reverse()) await server.stop();
  };
  try {
    const knot = kept(await startKnot(zones));
    const signed = zones.filter(({ isSigned }) => isSigned).map(({ name }) => name);
    const stubs = zones.map(({ name }) => ({ name, server: knot }));
    return {
      authoritative: knot,
      validatingResolver: kept(
        await startUnbound({ zones: stubs, trustAnchors: await rightAnchors(knot, signed) }),
      ),
      brokenResolver: kept(await startUnbound({ zones: stubs, trustAnchors: signed.map(wrongAnchor) })),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function rightAnchors(knot: KnotServer, zones: string[]): Promise<string[]> {
  return (await Promise.all(zones.map((zone) => knot.delegationSigners(zone)))).flat();
}

const wrongAnchor = (zone: string) => `${zone}. DS 4711 13 2 ${'0'.repeat(64)}`;
