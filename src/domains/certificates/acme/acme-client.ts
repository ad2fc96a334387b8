import { readFileSync } from 'node:fs';
import type { Agent } from 'node:https';
import type { AcmeSettings } from '../../../ground/config/config.js';
import { withinDeadline } from '../../../ground/kernel/deadline.js';
import { parseUrl } from '../../../ground/kernel/networks.js';
import { AcmeProblem, AcmeUnreachable } from './acme-problem.js';
import {
  type AcmeDirectory,
  type Authorization,
  type Order,
  type RenewalWindow,
  readAuthorization,
  readDirectory,
  readOrder,
  readRefusal,
  readRenewalWindow,
} from './acme-resources.js';
import { type AcmeCall, type AcmeResponse, acmeAgent, exchange } from './acme-transport.js';
import type { AccountKey } from './jws.js';

export interface AcmeSigner {
  key: AccountKey;
  accountUrl: string;
}

interface NewOrder {
  hostname: string;
  /** The renewal id of the certificate this one will replace. RFC 9773 §5. */
  replaces: string | null;
}

const TIMEOUT_MS = 10_000;
/** Attempts with a fresh nonce: a CA can refuse an old one, and each refusal contains a fresh one. RFC 8555 §6.5. */
const NONCE_ATTEMPTS = 25;
const NONCES_KEPT = 32;
/** A CA that moves its resources is away for as long. */
const DIRECTORY_KEPT_MS = 60_000;
/** The length of the database columns for URLs. */
const LONGEST_URL = 512;

/**
 * The requests of RFC 8555 and RFC 9773 that issuing needs, without flow or waiting.
 * Every method throws `AcmeProblem` or the reason of the signal. D-66.
 */
export class AcmeClient {
  private readonly agent: Agent;
  private newest: AcmeDirectory | null = null;
  private readAtMs = Number.NEGATIVE_INFINITY;
  private readonly nonces: string[] = [];

  /** Throws when the file with the CA's roots can't be read. */
  constructor(
    readonly settings: AcmeSettings,
    private readonly now: () => number,
    private readonly timeoutMs = TIMEOUT_MS,
  ) {
    const { caFile } = settings;
    this.agent = acmeAgent(caFile === null ? null : readFileSync(caFile, 'utf8'));
  }

  /** The CA's directory, which is read again after a minute. */
  async directory(signal: AbortSignal): Promise<AcmeDirectory> {
    if (this.newest && this.now() - this.readAtMs < DIRECTORY_KEPT_MS) return this.newest;
    this.newest = readDirectory(await this.read(this.settings.directoryUrl, signal));
    this.readAtMs = this.now();
    return this.newest;
  }

  /** The configured identities; otherwise those of the newest directory. */
  get caaIdentities(): readonly string[] {
    const { caaIdentities } = this.settings;
    return caaIdentities.length > 0 ? caaIdentities : (this.newest?.caaIdentities ?? []);
  }

  /** The URL of the key's account, created if there is none. RFC 8555 §7.3. */
  async account(key: AccountKey, signal: AbortSignal): Promise<string> {
    const { email } = this.settings;
    const payload = {
      termsOfServiceAgreed: true,
      ...(email === null ? {} : { contact: [`mailto:${email}`] }),
    };
    const { newAccount } = await this.directory(signal);
    return locationOf(await this.signed({ key, accountUrl: null }, newAccount, payload, signal));
  }

  /** RFC 8555 §7.4. */
  async newOrder(signer: AcmeSigner, { hostname, replaces }: NewOrder, signal: AbortSignal): Promise<Order> {
    const { profile } = this.settings;
    const payload = {
      identifiers: [{ type: 'dns', value: hostname }],
      ...(profile === null ? {} : { profile }),
      ...(replaces === null ? {} : { replaces }),
    };
    const { newOrder } = await this.directory(signal);
    const response = await this.signed(signer, newOrder, payload, signal);
    return readOrder(response, locationOf(response), this.now());
  }

  async order(signer: AcmeSigner, url: string, signal: AbortSignal): Promise<Order> {
    return readOrder(await this.signed(signer, url, null, signal), url, this.now());
  }

  async authorization(signer: AcmeSigner, url: string, signal: AbortSignal): Promise<Authorization> {
    return readAuthorization(await this.signed(signer, url, null, signal));
  }

  /** Asks the CA to validate the challenge now. RFC 8555 §7.5.1. */
  async respond(signer: AcmeSigner, challengeUrl: string, signal: AbortSignal): Promise<void> {
    await this.signed(signer, challengeUrl, {}, signal);
  }

  /** RFC 8555 §7.4. `csr` is DER. */
  async finalize(signer: AcmeSigner, order: Order, csr: Buffer, signal: AbortSignal): Promise<Order> {
    const payload = { csr: csr.toString('base64url') };
    return readOrder(await this.signed(signer, order.finalize, payload, signal), order.url, this.now());
  }

  /** The chain as PEM, leaf first. RFC 8555 §7.4.2. */
  async chain(signer: AcmeSigner, url: string, signal: AbortSignal): Promise<string> {
    return (await this.signed(signer, url, null, signal)).body;
  }

  /** Null = this CA gives no renewal advice. RFC 9773 §4. */
  async renewalWindow(renewalId: string, signal: AbortSignal): Promise<RenewalWindow | null> {
    const { renewalInfo } = await this.directory(signal);
    if (renewalInfo === null) return null;
    const url = `${renewalInfo.replace(/\/$/, '')}/${renewalId}`;
    return readRenewalWindow(await this.read(url, signal));
  }

  private async signed(
    { key, accountUrl }: { key: AccountKey; accountUrl: string | null },
    url: string,
    payload: object | null,
    signal: AbortSignal,
  ): Promise<AcmeResponse> {
    for (let attempt = 1; ; attempt += 1) {
      const nonce = this.nonces.pop() ?? (await this.freshNonce(signal));
      try {
        const body = key.sign(payload, { url, nonce, accountUrl });
        return await this.call({ url, body, isRead: payload === null }, signal);
      } catch (error) {
        const isBadNonce = error instanceof AcmeProblem && error.type === 'badNonce';
        if (!isBadNonce || attempt === NONCE_ATTEMPTS) throw error;
      }
    }
  }

  private read(url: string, signal: AbortSignal): Promise<AcmeResponse> {
    return this.call({ url, body: null, isRead: true }, signal);
  }

  /** The answer, if its status is 2xx. */
  private async call(call: AcmeCall, signal: AbortSignal): Promise<AcmeResponse> {
    const { timeoutMs, nonces } = this;
    const onTimeout = () => new AcmeUnreachable(`no answer within ${timeoutMs} ms`, { url: call.url });
    const response = await withinDeadline(signal, { timeoutMs, onTimeout }, (deadline) =>
      exchange(call, this.agent, deadline),
    );
    const nonce = response.headers['replay-nonce'];
    // The newest nonce is used first: old ones expire.
    if (call.body !== null && typeof nonce === 'string') nonces.push(nonce);
    if (nonces.length > NONCES_KEPT) nonces.shift();
    if (response.status >= 200 && response.status <= 299) return response;
    throw readRefusal(response, this.now());
  }

  private async freshNonce(signal: AbortSignal): Promise<string> {
    const { newNonce: url } = await this.directory(signal);
    const { headers } = await this.read(url, signal);
    const nonce = headers['replay-nonce'];
    if (typeof nonce === 'string') return nonce;
    throw new AcmeUnreachable('the CA gave no nonce', { url });
  }
}

function locationOf({ headers, url }: AcmeResponse): string {
  const location = headers.location;
  const resource = location === undefined ? null : parseUrl(location, url);
  if (resource && resource.href.length <= LONGEST_URL) return resource.href;
  throw new AcmeUnreachable('the CA does not say where the new resource is', { url });
}
