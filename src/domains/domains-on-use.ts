import type { Config } from '../ground/config/config.js';
import type { Capability } from '../ground/kernel/capability.js';
import { Domains1780000003000 } from '../ground/migrations/1780000003000-domains.js';
import { SharedRuns } from '../ground/scheduling/shared-runs.js';
import { AcmeAccount } from './certificates/store/acme-account.entity.js';
import { AcmeOrder } from './certificates/store/acme-order.entity.js';
import { Certificate } from './certificates/store/certificate.store.js';
import type { CustomDomainParts, CustomDomains } from './custom-domains.js';
import { Domain } from './store/domain.entity.js';
import { DomainEvent } from './store/timeline.js';

const LOOK_EVERY_MS = 1_000;
/** The default of `DNS_NAME_SERVER_PORT`. */
const DNS_PORT = 53;
/**
 * Custom domains, whose code is loaded when a setting, a request or a row of the database first needs it. Until then the
 * process looks each second for a domain that another process has added. D-265.
 */
export class DomainsOnUse implements Capability {
  /** The migration makes `change_sequences` too. */
  static readonly schema = {
    entities: [Domain, DomainEvent, Certificate, AcmeAccount, AcmeOrder],
    migrations: [Domains1780000003000],
  };
  private loading: Promise<CustomDomains> | null = null;
  private loaded: CustomDomains | null = null;
  private isStarted = false;
  private timer: NodeJS.Timeout | undefined;
  private readonly looks = new SharedRuns(() => this.look());

  constructor(private readonly parts: CustomDomainParts) {}

  /** Rejects when a file cannot be read, as without a free descriptor: the next call tries again. */
  load(): Promise<CustomDomains> {
    this.loading ??= this.create().catch((error) => {
      this.loading = null;
      throw error;
    });
    return this.loading;
  }

  start(): void {
    this.isStarted = true;
    if (this.loaded) this.loaded.start();
    else this.timer = setInterval(() => void this.looks.run(), LOOK_EVERY_MS).unref();
  }

  async stop(): Promise<void> {
    this.isStarted = false;
    clearInterval(this.timer);
    await this.loading?.then((domains) => domains.stop());
  }

  /** Deletes some of the rows that are no longer needed. */
  async deleteOldRows(): Promise<void> {
    await this.loaded?.deleteOldRows();
  }

  private async create(): Promise<CustomDomains> {
    const { createCustomDomains } = await import('./custom-domains.js');
    const domains = createCustomDomains(this.parts);
    this.loaded = domains;
    clearInterval(this.timer);
    if (this.isStarted) domains.start();
    return domains;
  }

  private async look(): Promise<void> {
    const { db, log } = this.parts;
    try {
      // A removed domain too: its row is deleted when its claim has ended.
      if (await db.repository(Domain).exists()) await this.load();
    } catch (error) {
      if (this.isStarted) log?.warn({ reason: String(error) }, 'domains could not be looked up');
    }
  }
}

/** Whether a setting says that this process works on domains. */
export function configuresDomains({
  httpsPort,
  acme,
  secretKeys,
  dnsServers,
  privateNameServers,
  nameServerPort,
}: Config): boolean {
  const isOrdering = httpsPort !== 0 || acme !== null || secretKeys.length > 0;
  return isOrdering || dnsServers.length > 0 || privateNameServers || nameServerPort !== DNS_PORT;
}
