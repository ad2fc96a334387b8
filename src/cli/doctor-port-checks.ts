import { once } from 'node:events';
import { createServer, isIP } from 'node:net';
import type { Config } from '../config/config.js';
import { type CheckResult, ok, problem } from './check-result.js';

const HEALTH_TIMEOUT_MS = 2_000;
const EVERY = ['0.0.0.0', '::'];

interface Place {
  name: 'PORT' | 'HTTPS_PORT' | 'METRICS_PORT';
  host: string;
  port: number;
}

/** Whether the ports are free, or a gateway uses them already. */
export async function checkPorts(config: Config): Promise<CheckResult> {
  const { host, port, httpsPort, metricsHost, metricsPort } = config;
  const places: Place[] = [
    { name: 'PORT', host, port },
    { name: 'HTTPS_PORT', host, port: httpsPort },
    { name: 'METRICS_PORT', host: metricsHost, port: metricsPort },
  ];
  // Port 0 = any free port, or off.
  const wanted = places.filter(({ port }) => port !== 0);
  const twice = wanted.find((place, at) => wanted.slice(0, at).some((other) => isSamePlace(place, other)));
  if (twice) return problem(`${twice.name} is the port ${twice.port} of another setting`, 'Change one.');

  const isGatewayThere = await isGateway(config);
  for (const place of wanted) {
    const reason = await reasonAgainst(place);
    if (reason === null || (reason.isTaken && isGatewayThere)) continue;
    return problem(`${place.name} ${place.port} on ${place.host} ${reason.found}`, reason.remedy);
  }
  if (isGatewayThere) return ok(`a gateway answers on ${host}:${port}`);
  return ok(
    wanted.map(({ name, host, port }) => `${name} ${port} on ${host} is free`).join(', ') || 'any free one',
  );
}

/** Different addresses can share a port, unless one is every address, or a name that may resolve to the other. */
function isSamePlace(one: Place, other: Place): boolean {
  if (one.port !== other.port) return false;
  const hosts = [one.host, other.host];
  return one.host === other.host || hosts.some((host) => EVERY.includes(host) || isIP(host) === 0);
}

interface Reason {
  found: string;
  remedy: string;
  isTaken: boolean;
}

/** Null = the port can be bound. */
async function reasonAgainst({ name, host, port }: Place): Promise<Reason | null> {
  const server = createServer();
  try {
    await once(server.listen(port, host), 'listening');
    return null;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const isTaken = code === 'EADDRINUSE';
    if (isTaken)
      return {
        found: 'is in use',
        remedy: `Stop the program that listens there, or set ${name} to another port.`,
        isTaken,
      };
    if (code === 'EACCES') {
      return { found: 'is not allowed for this user', remedy: `Set ${name} to a port above 1023.`, isTaken };
    }
    if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') {
      const setting = name === 'METRICS_PORT' ? 'METRICS_HOST' : 'HOST';
      return {
        found: "can't be bound: this machine has no such address",
        remedy: `Correct ${setting}.`,
        isTaken,
      };
    }
    return { found: `can't be bound: ${message}`, remedy: `Set ${name} to another port.`, isTaken };
  } finally {
    server.close();
  }
}

async function isGateway({ host, port }: Config): Promise<boolean> {
  if (port === 0) return false;
  const here =
    host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '[::1]' : host.includes(':') ? `[${host}]` : host;
  try {
    const signal = AbortSignal.timeout(HEALTH_TIMEOUT_MS);
    const answer = await fetch(`http://${here}:${port}/healthz`, { signal, redirect: 'manual' });
    return answer.ok && answer.headers.has('x-request-id');
  } catch {
    return false;
  }
}
