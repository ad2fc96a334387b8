import type { FastifyInstance } from 'fastify';
import type { HostIndex } from '../domains/hosts/host-index.js';
import type { Drain } from '../http/drain.js';
import type { Pages } from '../web/pages.js';
import { type Addresses, addressesOf } from './addresses.js';
import type { CustomDomains } from './custom-domains.js';
import { openDoors } from './doors.js';
import { createLifecycle } from './lifecycle.js';
import { createParts, type Surroundings } from './parts.js';
import type { Services } from './services.js';

export interface App {
  http: FastifyInstance;
  services: Services;
  hosts: HostIndex;
  customDomains: CustomDomains;
  drain: Drain;
  pages: Pages;
  /** Starts listening. Returns the addresses for clients. */
  listen(): Promise<Addresses>;
}

/** The composition root: parts, then doors, then what starts and ends them. Several apps can live in one process. */
export async function createApp(around: Surroundings): Promise<App> {
  const { config } = around;
  let addresses = addressesOf(config, config.port);
  const parts = await createParts(around);
  const doors = await openDoors(around, parts, () => addresses);
  const lifecycle = createLifecycle(around, parts, doors);
  const { http, drain, pages } = doors;
  const listen = async () => {
    addresses = addressesOf(config, await lifecycle.listen());
    return addresses;
  };
  const { services, hosts, customDomains } = parts;
  return { http, services, hosts, customDomains, drain, pages, listen };
}
