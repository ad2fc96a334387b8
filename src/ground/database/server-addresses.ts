import type { PoolConnection } from 'mysql2';
import { named, type ServerAddress } from '../config/servers.js';
import { ask } from './cluster/strict-session.js';
import { storageProblem } from './database-errors.js';

/** Errors of statements after which the server takes no more of them: it has gone, hangs, is read-only or out of step. */
const LEAVING: ReadonlySet<unknown> = new Set([
  'ECONNRESET',
  'EPIPE',
  'ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION',
  'ER_OPTION_PREVENTS_STATEMENT',
  'ER_READ_ONLY_MODE',
  'ER_SERVER_OFFLINE_MODE',
  'ER_SERVER_SHUTDOWN',
  'ER_UNKNOWN_COM_ERROR',
  'PROTOCOL_CONNECTION_LOST',
  'PROTOCOL_SEQUENCE_TIMEOUT',
]);
const SILENT: ReadonlySet<unknown> = new Set(['ETIMEDOUT', 'PROTOCOL_SEQUENCE_TIMEOUT']);

const READ_ONLY = 'SELECT @@GLOBAL.read_only AS value';
/** Every MariaDB has the second one. Without Galera the first is empty. */
const IN_STEP = "SHOW GLOBAL STATUS WHERE Variable_name IN ('wsrep_provider_name', 'wsrep_ready')";

interface Address extends ServerAddress {
  /** Which of all leavings its last one was; 0 = none. */
  left: number;
  /** Why it was left. Null since it serves again. */
  why: string | null;
}

/** mysql2's options for a connection, which it keeps as `connection.config`. */
type Opening = object;

/**
 * The servers of one database, of which one is used: that which was left longest ago. With a single server it remembers
 * nothing, and leaves nothing. D-291.
 */
export class ServerAddresses {
  private readonly all: Address[];
  private readonly openings = new WeakMap<Opening, { address: Address; left: number }>();
  private used: Address | undefined;
  private leavings = 0;
  private latest: Opening | null = null;

  constructor(
    servers: readonly ServerAddress[],
    /** Gets a sentence when another server is used than before. */
    private readonly onMove: (sentence: string) => void,
  ) {
    this.all = servers.map((server) => ({ ...server, left: 0, why: null }));
    this.used = this.all[0];
  }

  get count(): number {
    return this.all.length;
  }

  /** Where a new connection goes. Its config gets the place too, because TLS checks the name. */
  choose(config: ServerAddress): ServerAddress {
    const [first, ...others] = this.all;
    if (!first || others.length === 0) return config;
    const address = others.reduce((best, each) => (each.left < best.left ? each : best), first);
    this.openings.set(config, { address, left: address.left });
    this.latest = config;
    return Object.assign(config, { host: address.host, port: address.port });
  }

  /** The connection that `work` begins to open, because mysql2's error names none; null = it opens none. */
  openedBy(work: () => void): Opening | null {
    this.latest = null;
    work();
    return this.latest;
  }

  /** Whether its server was left since the connection was opened. */
  hasLeft({ config }: PoolConnection): boolean {
    const opening = this.openings.get(config);
    return opening !== undefined && opening.left !== opening.address.left;
  }

  /** After an error without which the connection would serve. Returns whether its server is left now. */
  leave(opened: Opening, error: unknown): boolean {
    const opening = this.openings.get(opened);
    if (!opening || opening.left !== opening.address.left) return false;
    this.leavings += 1;
    Object.assign(opening.address, { left: this.leavings, why: whyOf(error) });
    return true;
  }

  /** After the error of a statement, as `leave`. */
  leaveAfter({ config }: PoolConnection, error: unknown): boolean {
    return LEAVING.has((error as NodeJS.ErrnoException | null)?.code) && this.leave(config, error);
  }

  /** A new connection serves. */
  use(connection: PoolConnection): void {
    const address = this.openings.get(connection.config)?.address;
    if (!address || this.hasLeft(connection)) return;
    address.why = null;
    const { used } = this;
    if (used === address) return;
    this.used = address;
    if (used)
      this.onMove(`the database is used at ${named(address)} now, not at ${named(used)}: ${used.why}`);
  }

  /** The error, with what is wrong at each server if all were left. */
  explained<E extends Error>(error: E): E {
    const isNowhere = this.count > 1 && this.all.every(({ why }) => why !== null);
    if (!isNowhere) return error;
    return Object.assign(error, {
      nowhere: this.all.map((each) => `${named(each)}: ${each.why}`).join('; '),
    });
  }
}

/** Rejects unless the server stores writes. */
export async function requireStoring(connection: PoolConnection): Promise<void> {
  const [readOnly, status] = await Promise.all([ask(connection, READ_ONLY), ask(connection, IN_STEP)]);
  const [{ value } = {}] = readOnly as { value?: string | number }[];
  if (!['0', 'OFF'].includes(String(value))) throw refusal('the server is read-only', 'ER_READ_ONLY_MODE');
  const rows = status as { Variable_name: string; Value: string }[];
  const of = Object.fromEntries(rows.map((row) => [row.Variable_name, row.Value]));
  if (of.wsrep_provider_name && of.wsrep_ready !== 'ON')
    throw refusal('the server is not in step with its cluster', 'ER_UNKNOWN_COM_ERROR');
}

/** As the server would refuse the first write. */
const refusal = (message: string, code: string) => Object.assign(new Error(message), { code });

/** For everybody who asks `/readyz`: without the user's name, which is in messages. */
function whyOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return storageProblem(error) ?? (SILENT.has(code) ? 'it does not answer' : (code ?? message));
}
