import { Column, Entity, PrimaryColumn } from 'typeorm';
import { TIME_MS, text } from '../../../ground/database/columns.js';
import type { Database } from '../../../ground/database/database.js';
import { isDuplicate } from '../../../ground/database/database-errors.js';
import type { AcmeClient, AcmeSigner } from '../acme/acme-client.js';
import { AcmeProblem } from '../acme/acme-problem.js';
import { AccountKey, generateKey, pemOf } from '../acme/jws.js';
import type { Sealer } from '../store/sealer.js';

/** This gateway's account with a CA, shared by all processes. */
@Entity('acme_accounts')
export class AcmeAccount {
  @PrimaryColumn({ ...text(255), name: 'directory_url' })
  directoryUrl!: string;

  @Column({ ...text(512), name: 'account_url' })
  accountUrl!: string;

  /** PEM, sealed. */
  @Column({ type: 'text', name: 'sealed_key' })
  sealedKey!: string;

  @Column({ ...TIME_MS, name: 'created_at_ms' })
  createdAtMs!: number;
}

/** The key is not registered at the CA yet. */
const UNREGISTERED = '';
const CONFLICT = 409;

/**
 * The gateway's account at the CA, shared by all processes. The key is stored before it is registered, and the CA returns
 * the same account for the same key. So processes that start at the same time get the same account.
 */
export class AcmeAccounts {
  /** Reading a key costs more than any statement of an order. */
  private opened: { sealedKey: string; key: AccountKey } | null = null;

  constructor(
    private readonly client: AcmeClient,
    private readonly db: Database,
    private readonly sealer: Sealer,
    private readonly now: () => number,
  ) {}

  /** The stored account, created if there is none. Throws what `AcmeClient` throws. */
  async current(signal: AbortSignal): Promise<AcmeSigner> {
    const row = (await this.findAccount()) ?? (await this.create());
    const key = this.keyOf(row);
    if (this.sealer.isOutdated(row.sealedKey)) await this.sealAnew(row);
    return row.accountUrl === UNREGISTERED ? this.register(row, signal) : { key, accountUrl: row.accountUrl };
  }

  /** Runs `work` with the account; registers the key and retries once when the CA no longer knows the account. */
  async use<T>(signal: AbortSignal, work: (signer: AcmeSigner) => Promise<T>): Promise<T> {
    const signer = await this.current(signal);
    try {
      return await work(signer);
    } catch (error) {
      if (!(error instanceof AcmeProblem) || error.type !== 'accountDoesNotExist') throw error;
    }
    const row = await this.findAccount();
    // Another process may have been faster.
    const isReplaced = row?.accountUrl !== signer.accountUrl;
    return work(isReplaced ? await this.current(signal) : await this.register(row, signal));
  }

  private async register(row: AcmeAccount, signal: AbortSignal): Promise<AcmeSigner> {
    const { directoryUrl } = row;
    const key = this.keyOf(row);
    const accountUrl = await this.client.account(key, signal).catch((error) => {
      // The CA is creating the account for another process at this moment.
      if (error instanceof AcmeProblem && error.status === CONFLICT) return this.client.account(key, signal);
      throw error;
    });
    await this.db.write(() => this.table.update({ directoryUrl }, { accountUrl }));
    return { key, accountUrl };
  }

  private async create(): Promise<AcmeAccount> {
    const { directoryUrl } = this.client.settings;
    const row: AcmeAccount = {
      directoryUrl,
      accountUrl: UNREGISTERED,
      sealedKey: this.sealer.seal(pemOf(await generateKey()), contextOf(directoryUrl)),
      createdAtMs: this.now(),
    };
    try {
      await this.db.write(() => this.table.insert({ ...row }));
      return row;
    } catch (error) {
      const winner = isDuplicate(error) ? await this.findAccount() : null;
      if (winner) return winner;
      throw error;
    }
  }

  private async sealAnew({ directoryUrl, sealedKey }: AcmeAccount): Promise<void> {
    const context = contextOf(directoryUrl);
    const renewed = this.sealer.seal(this.sealer.open(sealedKey, context), context);
    await this.db.write(() => this.table.update({ directoryUrl, sealedKey }, { sealedKey: renewed }));
  }

  private keyOf({ directoryUrl, sealedKey }: AcmeAccount): AccountKey {
    if (this.opened?.sealedKey !== sealedKey) {
      this.opened = { sealedKey, key: new AccountKey(this.sealer.open(sealedKey, contextOf(directoryUrl))) };
    }
    return this.opened.key;
  }

  private findAccount(): Promise<AcmeAccount | null> {
    return this.table.findOneBy({ directoryUrl: this.client.settings.directoryUrl });
  }

  private get table() {
    return this.db.repository(AcmeAccount);
  }
}

function contextOf(directoryUrl: string): string {
  return `acme-account:${directoryUrl}`;
}
