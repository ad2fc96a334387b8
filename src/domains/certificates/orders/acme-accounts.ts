import type { Database } from '../../../ground/database/database.js';
import type { AcmeClient, AcmeSigner } from '../acme/acme-client.js';
import { AcmeProblem } from '../acme/acme-problem.js';
import { AccountKey, generateKey, pemOf } from '../acme/jws.js';
import { AcmeAccount } from '../store/acme-account.entity.js';
import type { Sealer } from '../store/sealer.js';

/** The key is not registered at the CA yet. */
const UNREGISTERED = '';
const CONFLICT = 409;

/**
 * The gateway's account at the CA, shared by all processes. The key is stored before it is registered, and the CA returns
 * the same account for the same key. So processes that start at the same time get the same account.
 */
export class AcmeAccounts {
  constructor(
    private readonly client: AcmeClient,
    private readonly db: Database,
    private readonly sealer: Sealer,
    private readonly now: () => number,
  ) {}

  /** The stored account, created if there is none. Throws what `AcmeClient` throws. */
  async current(signal: AbortSignal): Promise<AcmeSigner> {
    const { directoryUrl, sealedKey, accountUrl } = await this.row();
    const pem = this.sealer.open(sealedKey, contextOf(directoryUrl));
    const key = new AccountKey(pem);
    if (this.sealer.isOutdated(sealedKey)) {
      const renewed = this.sealer.seal(pem, contextOf(directoryUrl));
      await this.db.write(() => this.table.update({ directoryUrl, sealedKey }, { sealedKey: renewed }));
    }
    return { key, accountUrl: accountUrl === UNREGISTERED ? await this.register(key, signal) : accountUrl };
  }

  /** Runs `work` with the account; registers the key and retries once when the CA no longer knows the account. */
  async use<T>(signal: AbortSignal, work: (signer: AcmeSigner) => Promise<T>): Promise<T> {
    const { key, accountUrl } = await this.current(signal);
    try {
      return await work({ key, accountUrl });
    } catch (error) {
      if (!(error instanceof AcmeProblem) || error.type !== 'accountDoesNotExist') throw error;
    }
    return work({ key, accountUrl: await this.register(key, signal) });
  }

  private async register(key: AccountKey, signal: AbortSignal): Promise<string> {
    const { directoryUrl } = this.client.settings;
    const accountUrl = await this.client.account(key, signal).catch((error) => {
      // The CA is creating the account for another process at this moment. Pebble answers `serverInternal` then.
      const isCreating =
        error instanceof AcmeProblem &&
        (error.context.status === CONFLICT || error.type === 'serverInternal');
      if (isCreating) return this.client.account(key, signal);
      throw error;
    });
    await this.db.write(() => this.table.update({ directoryUrl }, { accountUrl }));
    return accountUrl;
  }

  /** The row, created if there is none. Another process may be faster. */
  private async row(): Promise<AcmeAccount> {
    const { directoryUrl } = this.client.settings;
    const known = await this.table.findOneBy({ directoryUrl });
    if (known) return known;
    const row = {
      directoryUrl,
      accountUrl: UNREGISTERED,
      sealedKey: this.sealer.seal(pemOf(await generateKey()), contextOf(directoryUrl)),
      createdAtMs: this.now(),
    };
    await this.db.write(() => this.table.createQueryBuilder().insert().values(row).orIgnore().execute());
    return this.table.findOneByOrFail({ directoryUrl });
  }

  private get table() {
    return this.db.repository(AcmeAccount);
  }
}

const contextOf = (directoryUrl: string) => `acme-account:${directoryUrl}`;
