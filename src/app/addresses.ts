import type { Config } from '../ground/config/config.js';

/** The URLs at which clients reach this gateway. Built from settings only, because a client can send any Host header. D-57. */
export interface Addresses {
  /** The base URL of this environment, without a trailing slash and without `/v1`. */
  base: string;
  /** SPEC's two base addresses, ending in `/v1`; null = this installation has no staging. */
  production: string;
  staging: string | null;
  /** The generated URL of a project. */
  ofProject: (slug: string) => string;
}

/** `port` is the port that the server listens on; it is used where no address is configured. */
export function addressesOf(config: Config, port: number): Addresses {
  const listening = listeningUrl({ host: config.host, port });
  const isStaging = config.environment === 'staging';
  const production = config.publicBaseUrl ?? listening;
  const staging = config.stagingBaseUrl ?? (isStaging ? listening : null);
  const base = (isStaging ? staging : null) ?? production;
  return {
    base,
    production: `${production}/v1`,
    staging: staging === null ? null : `${staging}/v1`,
    ofProject: (slug) => {
      const url = new URL(base);
      url.hostname = `${slug}.${config.platformHost}`;
      return url.origin;
    },
  };
}

/** The entries of `servers` in the OpenAPI document. */
export function serversOf({
  production,
  staging,
}: Addresses): readonly { url: string; description: string }[] {
  const servers = [{ url: production, description: 'Production' }];
  return staging === null ? servers : [...servers, { url: staging, description: 'Staging' }];
}

/** The URL at which this machine reaches a server that listens there. */
export function listeningUrl({ host, port }: Pick<Config, 'host' | 'port'>): string {
  if (host === '0.0.0.0' || host === '::') return `http://127.0.0.1:${port}`;
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** The HTTPS port that clients use; null = unknown or none. */
export function httpsPortOf({ publicHttpsPort, httpsPort }: Config): number | null {
  return publicHttpsPort ?? (httpsPort || null);
}

/** The host that custom domains point to; null = it is none of the public DNS, as when no setting names it. */
export function domainTargetOf({ platformHost }: Config): string | null {
  return /(^|\.)localhost$/.test(platformHost) ? null : platformHost;
}

/** Whether this is a local trial: the demo project is created, and no public address is configured. */
export function isLocalDemo({ demo, publicBaseUrl, stagingBaseUrl }: Config): boolean {
  return demo && publicBaseUrl === null && stagingBaseUrl === null;
}

/** The names of `platformNames`, which no project can attach. */
export function ownHostsOf(config: Config): readonly string[] {
  const { platformHost, aliases } = platformNames(config);
  return [platformHost, ...aliases];
}

/** The host names of the platform itself, where every key is accepted. */
export function platformNames(config: Config) {
  const { production, staging } = addressesOf(config, config.port);
  const ofAddresses = [production, staging].flatMap((url) => (url === null ? [] : new URL(url).hostname));
  return { platformHost: config.platformHost, aliases: [config.host, ...ofAddresses] };
}
