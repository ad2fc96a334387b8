import type { Config } from './config.js';

/** Where clients find this gateway. Built from settings only: the Host header is the client's to choose. */
export interface Addresses {
  /** Of this environment, without a trailing slash and without `/v1`. */
  base: string;
  /** SPEC's two base addresses, ending in `/v1`. */
  production: string;
  staging: string;
  /** The generated address of a project. */
  ofProject: (slug: string) => string;
}

/** `port` is the one listened on: it counts where no address is configured. */
export function addressesOf(config: Config, port: number): Addresses {
  const host = config.host.includes(':') ? `[${config.host}]` : config.host;
  const listening = `http://${host === '0.0.0.0' || host === '[::]' ? '127.0.0.1' : host}:${port}`;
  const isStaging = config.environment === 'staging';
  const production = config.publicBaseUrl ?? listening;
  const staging = config.stagingBaseUrl ?? (isStaging ? listening : `https://staging.${config.platformHost}`);
  const base = isStaging ? staging : production;
  return {
    base,
    production: `${production}/v1`,
    staging: `${staging}/v1`,
    ofProject: (slug) => {
      const url = new URL(base);
      url.hostname = `${slug}.${config.platformHost}`;
      return url.origin;
    },
  };
}

/** Whether somebody tries the gateway out: the demo project is made, and no address for clients elsewhere is configured. */
export function isLocalDemo({ demo, publicBaseUrl, stagingBaseUrl }: Config): boolean {
  return demo && publicBaseUrl === null && stagingBaseUrl === null;
}

/** The host names of the platform itself, where every key counts. */
export function platformNames(config: Config) {
  const { production, staging } = addressesOf(config, config.port);
  const ofAddresses = [production, staging].map((address) => new URL(address).hostname);
  return { platformHost: config.platformHost, aliases: [config.host, ...ofAddresses] };
}
