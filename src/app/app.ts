import { once } from 'node:events';
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { networkTest } from '../ground/kernel/networks.js';
import { HTTP_LIMITS } from '../request/http/reception.js';
import type { TlsServer } from '../request/ingress/tls-server.js';
import { addressesOf } from './addresses.js';
import { startChores } from './chores.js';
import { type Doors, openDoors } from './doors.js';
import { type AppOptions, createParts, type Parts } from './parts.js';

export type App = Awaited<ReturnType<typeof createApp>>;

/** The composition root: parts, then doors, then what starts and ends them. Several apps can live in one process. */
export async function createApp(options: AppOptions) {
  const { config } = options;
  let addresses = addressesOf(config, config.port);
  const parts = await createParts(options);
  const doors = await openDoors(options, parts, () => addresses).catch(async (error) => {
    await closeConnections(parts);
    throw error;
  });
  const start = prepareStart(options, parts, doors, await openTls(options, parts, doors));
  const { http, drain, pages } = doors;
  const listen = async () => {
    addresses = addressesOf(config, await start());
    return addresses;
  };
  const { services, hosts, customDomains } = parts;
  return { http, services, hosts, customDomains, drain, pages, listen };
}

/** Closes the connections of parts when there is no server, whose end would close them. */
async function closeConnections({ closeLimiter, signals, tracing }: Parts): Promise<void> {
  await Promise.all([closeLimiter(), signals.close(), tracing?.close()]);
}

/** TLS for custom domains; null = `HTTPS_PORT` is not set, and its code is not loaded. */
async function openTls(
  { config, logger }: AppOptions,
  { customDomains, hosts, hostAddresses }: Parts,
  { http, reception, shedder }: Doors,
): Promise<TlsServer | null> {
  if (config.httpsPort === 0) return null;
  const { certificates, sealer } = await customDomains.load();
  const { SecureContexts, TlsServer } = await import('../request/ingress/tls-server.js');
  const { expectProxyHeaders } = await import('../request/ingress/proxy-protocol.js');
  const tls = new TlsServer(hosts, hostAddresses, new SecureContexts(certificates, sealer), logger);
  expectProxyHeaders(tls.server, networkTest(config.trustedProxies));
  reception.receive(tls.server, shedder?.guard(http.routing) ?? http.routing);
  return tls;
}

const HAND_OVER_MS = 1_000;

/** Starts the chores. Returns what starts the ports and the work on custom domains, and resolves with the port of HTTP. */
function prepareStart(
  { config, logger }: AppOptions,
  parts: Parts,
  { http, connections, reception, shedder, closeGraphQL }: Doors,
  tls: TlsServer | null,
): () => Promise<number> {
  const { customDomains, hosts, metrics, streams } = parts;
  const chores = startChores(parts.chores, logger, (work) => metrics?.failures.inc({ work }));
  let endMetrics: () => void = () => {};
  let tlsEnded: Promise<void> | undefined;

  http.addHook('preClose', async () => {
    connections.closeUnused();
    streams.drain();
    tlsEnded = tls?.close();
    // Other processes take over the remaining work when its lease expires.
    await Promise.race([customDomains.stop(), sleep(HAND_OVER_MS, undefined, { ref: false })]);
  });
  http.addHook('onClose', async () => {
    endMetrics();
    await closeGraphQL();
    connections.stop();
    shedder?.stop();
    hosts.stop();
    // After TLS has ended, so that the counts of the last requests are stored too.
    await tlsEnded;
    await Promise.all([parts.closeLimiter(), chores.stopChores()]);
    // The last chores send signals.
    await parts.signals.close();
    // Last, so that the spans of the last work are sent too.
    await parts.tracing?.close();
  });

  return async () => {
    if (metrics) {
      const server = reception.receive(createServer(HTTP_LIMITS), metrics.answer);
      server.listen(config.metricsPort, config.metricsHost);
      await once(server, 'listening');
      endMetrics = () => server.close();
    }
    await hosts.start({ isPolling: tls !== null });
    await tls?.listen(config.host, config.httpsPort);
    await http.listen({ host: config.host, port: config.port });
    customDomains.start();
    const address = http.server.address();
    return typeof address === 'object' && address ? address.port : config.port;
  };
}
