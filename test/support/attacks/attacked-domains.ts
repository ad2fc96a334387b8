import { loadConfig } from '../../../src/ground/config/config.js';
import { Database } from '../../../src/ground/database/database.js';
import type { DatabaseKind } from '../databases.js';
import { type DnsServerDouble, startDnsServer } from '../dns/dns-server.js';
import { ownerOf } from '../domains/domain-rig.js';
import { createServices, DATABASE_SCHEMA, SCOPES } from '../gateway/tested-gateway.js';
import { type AttackedGateway, startAttackedGateway } from './attacked-gateway.js';

const PLATFORM_HOST = 'petstore.test';
const actor = { name: 'test', requestId: null };
let owners = 0;

/** A gateway whose only DNS server is under the attacker's control. */
export interface AttackedDomains {
  dns: DnsServerDouble;
  attacked: AttackedGateway;
  /** Creates a published project on PRO; returns its client for domains. */
  newOwner(): Promise<ReturnType<typeof ownerOf>>;
  stop(): Promise<void>;
}

export async function startAttackedDomains(kind?: DatabaseKind): Promise<AttackedDomains> {
  const dns = await startDnsServer();
  dns.zone(PLATFORM_HOST);
  dns.set(PLATFORM_HOST, 'A', '192.0.2.10');
  const attacked = await startAttackedGateway({
    ...(kind ? { kind } : {}),
    env: {
      PLATFORM_HOST,
      DNS_SERVERS: dns.hostPort,
      DNS_NAME_SERVER_PORT: String(dns.port),
      DNS_PRIVATE_NAME_SERVERS: '1',
    },
  });
  const stop = async () => {
    await attacked.stop();
    await dns.stop();
  };
  return { dns, attacked, newOwner: () => newOwner(attacked), stop };
}

async function newOwner({ gateway, databaseUrl }: AttackedGateway): Promise<ReturnType<typeof ownerOf>> {
  const db = await Database.open(loadConfig({ DATABASE_URL: databaseUrl }).database, DATABASE_SCHEMA);
  const { projects, apiKeys } = createServices(db, Date.now);
  owners += 1;
  const slug = `owner-${process.pid}-${owners}`;
  const project = await projects.create(actor, {
    slug,
    name: null,
    plan: 'PRO',
    perMinute: null,
    perDay: null,
  });
  await projects.publish(actor, project.id);
  const wanted = { projectId: project.id, name: 'test', scopes: SCOPES, expiresAtMs: null };
  const { token } = await apiKeys.create(actor, wanted);
  await db.close();
  return ownerOf(gateway, { token });
}
