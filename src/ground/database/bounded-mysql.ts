import { connect, type Socket } from 'node:net';
import mysql, { type Pool, type PoolConnection, type PoolOptions } from 'mysql2';
import type { ServerAddress } from '../config/servers.js';
import { makeStrict } from './cluster/strict-session.js';
import { noConnection, ROLLED_BACK_BY_GROUP } from './database-errors.js';
import { requireStoring, ServerAddresses } from './server-addresses.js';

type GetConnection = (
  callback: (error: NodeJS.ErrnoException | null, connection?: PoolConnection) => void,
) => void;
type Done = (error: unknown, ...rest: unknown[]) => void;
type Query = (sql: string, ...more: [done: Done] | [values: unknown, done: Done]) => unknown;

/** mysql2's code for a statement without an answer in time. */
const SILENT = 'PROTOCOL_SEQUENCE_TIMEOUT';

/** The server has executed nothing, and must prepare the statement again: perhaps a proxy has changed the server. */
const UNPREPARED: ReadonlySet<unknown> = new Set(['ER_NEED_REPREPARE', 'ER_UNKNOWN_STMT_HANDLER']);

/** After these errors the connection must not return to the pool: it is out of step, or has the wrong server or rights. */
const FATAL_FOR_CONNECTION: ReadonlySet<unknown> = new Set([
  'ER_MALFORMED_PACKET',
  'ER_NET_PACKETS_OUT_OF_ORDER',
  // A node of a Galera cluster that is not in step with the others.
  'ER_UNKNOWN_COM_ERROR',
  ...UNPREPARED,
  // The server became a replica or read-only: only a new connection can find the new primary.
  'ER_OPTION_PREVENTS_STATEMENT',
  'ER_READ_ONLY_MODE',
  'ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION',
  // The server checks the rights that the user had when the connection was opened.
  'ER_DBACCESS_DENIED_ERROR',
  'ER_MUST_CHANGE_PASSWORD',
  'ER_TABLEACCESS_DENIED_ERROR',
]);

/** A row if the server is in its group. A leaving member says so before it rolls transactions back. D-281. */
const IN_GROUP =
  "SELECT 1 FROM performance_schema.replication_group_members WHERE member_id = @@server_uuid AND member_state = 'ONLINE'";

/** Statements that store nothing themselves. */
const CHANGES_NOTHING = /^\W*(SELECT|SET|START|ROLLBACK|SAVEPOINT|RELEASE)\b/i;

/** Of all answers that arrive at a pool. A page of a backup has 13 MB. */
const MOST_ANSWER_BYTES = 16_000_000;
/** Mostly rows: the longest answer has 5,000. A row of NULL takes eight times as much memory as its bytes. */
const MOST_PACKETS = 20_000;

interface Settings {
  queryTimeoutMs: number;
  servers: readonly ServerAddress[];
  onMove?: ((sentence: string) => void) | undefined;
  /** On a node of a cluster no statement runs before its session waits for the other nodes. D-288. */
  isStrict: boolean;
}

/**
 * mysql2 with a deadline on every wait and a bound on every answer (D-172). Without it, mysql2 waits forever for a free
 * connection and for an answer. It also reuses a connection that timed out, so the pool stays broken after the network has
 * recovered.
 *
 * A firewall or a failover can silently drop all connections of a pool at once. So a timeout on one connection discards
 * all that are idle. Otherwise each of them would cost a client a whole deadline.
 */
export function boundedMysql({
  queryTimeoutMs,
  servers,
  onMove = () => {},
  isStrict,
}: Settings): typeof mysql {
  const lockSeconds = Math.max(1, Math.floor(queryTimeoutMs / 2_000));
  const createPool = (options: PoolOptions): Pool => {
    const answers = new ArrivingAnswers();
    const addresses = new ServerAddresses(servers, onMove);
    const preparations: Preparations = new WeakMap();
    const open = ({ config }: { config: ServerAddress }) => {
      const { host, port } = addresses.choose(config);
      return answers.bound(connect({ host, port, noDelay: true, keepAlive: true }));
    };
    const pool = mysql.createPool({ ...options, stream: open });
    pool.on('connection', (connection) => {
      // With TLS it is another stream than the opened one.
      const stream = answers.bound(streamOf(connection));
      answers.ended(stream);
      boundStatements(connection, queryTimeoutMs, (error) => {
        answers.ended(stream);
        const isSilent = (error as NodeJS.ErrnoException | null)?.code === SILENT;
        if (addresses.leaveAfter(connection, error) || isSilent) discardIdle(pool);
      });
      // The server does not notice that a connection has ended while its statement waits for a row or a table. It would still execute
      // the statement, after the client's 503. D-239.
      const names = ['innodb_lock_wait_timeout', 'lock_wait_timeout'];
      connection.query(`SET SESSION ${names.map((name) => `${name} = ${lockSeconds}`).join(', ')}`, () => {});
      // In this order: at a node that is cut off a strict session waits for a deadline.
      const needed = [
        ...(addresses.count > 1 ? [requireStoring(connection)] : []),
        ...(isStrict ? [makeStrict(connection)] : []),
      ];
      if (needed.length > 0) preparations.set(connection, Promise.all(needed));
    });
    boundWaiting(pool, queryTimeoutMs, { addresses, preparations });
    return pool;
  };
  return { ...mysql, createPool } as typeof mysql;
}

/** Counts the bytes of the answers that arrive at a pool. Bytes above the bound end their connection. */
class ArrivingAnswers {
  private bytes = 0;
  private readonly bytesOf = new WeakMap<Socket, number>();

  bound(stream: Socket): Socket {
    if (this.bytesOf.has(stream)) return stream;
    this.bytesOf.set(stream, 0);
    stream.once('close', () => this.ended(stream));
    return stream.on('data', ({ length }) => {
      this.bytes += length;
      this.bytesOf.set(stream, (this.bytesOf.get(stream) ?? 0) + length);
      if (this.bytes > MOST_ANSWER_BYTES) stream.destroy(tooMuch());
    });
  }

  ended(stream: Socket): void {
    this.bytes -= this.bytesOf.get(stream) ?? 0;
    this.bytesOf.set(stream, 0);
  }
}

function boundStatements(
  connection: PoolConnection,
  timeoutMs: number,
  onEnd: (error: unknown) => void,
): void {
  // The pool listens only for the first error; a second error without a listener would end the process.
  connection.on('error', () => {});
  let fault: Error | null = null;
  const fail = (error: Error) => {
    fault = error;
    streamOf(connection).destroy(error);
  };
  // mysql2 only warns of a packet with a wrong number, although it can belong to the answer of another statement.
  connection.on('warn', fail);
  let packets = 0;
  const inner = connection as unknown as Inner;
  const handlePacket = inner.handlePacket.bind(connection);
  inner.handlePacket = (packet) => {
    if (packet && ++packets > MOST_PACKETS) fail(tooMuch());
    if (!fault) handlePacket(packet);
  };
  // Within the deadline of the statement that was rolled back.
  const ask = connection.query.bind(connection) as Query;
  const bounded =
    (run: Query): Query =>
    (sql, ...more) => {
      const [values, done] = more.length === 1 ? [undefined, ...more] : more;
      let isOver = false;
      // A connection lost between prepare and execute calls back twice. Released twice, it would serve two callers at once.
      const settle: Done = (given, ...rest) => {
        if (isOver) return;
        isOver = true;
        clearTimeout(timer);
        packets = 0;
        const error = given ?? fault;
        onEnd(error);
        if (error) {
          const { code, sqlState } = error as { code?: unknown; sqlState?: unknown };
          // Without a state the server has sent no error: its answer is late, malformed or incomplete, and the rest would
          // answer the next statement.
          const isLost = sqlState === undefined || FATAL_FOR_CONNECTION.has(code);
          if (isLost)
            Object.assign(error, {
              fatal: true,
              isUnanswered: sqlState === undefined && !CHANGES_NOTHING.test(sql),
            });
          // A statement after a failed ROLLBACK would join the open transaction, and be lost with it.
          if (isLost || /^ROLLBACK/.test(sql)) discard(connection);
        }
        done(error, ...rest);
      };
      // mysql2's own timeout does not cover the prepare step.
      const timer = setTimeout(() => {
        const error: NodeJS.ErrnoException = new Error(`no answer from the database within ${timeoutMs} ms`);
        error.code = SILENT;
        settle(error);
      }, timeoutMs);
      return run(sql, values, (error, ...rest) => {
        const code = (error as NodeJS.ErrnoException | null)?.code;
        if (UNPREPARED.has(code)) {
          connection.unprepare(sql);
          run(sql, values, settle);
        } else if (code !== ROLLED_BACK_BY_GROUP) settle(error, ...rest);
        else
          ask(IN_GROUP, (_, rows) => {
            const isRolledBack = (rows as unknown[] | undefined)?.length === 1;
            settle(Object.assign(error as object, { isRolledBack }), ...rest);
          });
      });
    };
  connection.query = bounded(connection.query.bind(connection) as Query) as typeof connection.query;
  connection.execute = bounded(connection.execute.bind(connection) as Query) as typeof connection.execute;
}

/** mysql2 ends only its own direction. A server that has forgotten the connection never ends the other one. */
function discard(connection: PoolConnection): void {
  connection.destroy();
  streamOf(connection).destroy();
}

function discardIdle(pool: Pool): void {
  const { _freeConnections: idle } = pool as unknown as { _freeConnections: Idle };
  // A discarded connection leaves the queue at once.
  for (const each of Array.from({ length: idle.length }, (_, at) => idle.get(at))) discard(each);
}

/** mysql2's queue. */
interface Idle {
  length: number;
  get(index: number): PoolConnection;
}

const streamOf = (connection: PoolConnection) => (connection as unknown as Inner).stream;

/** Missing in mysql2's types. */
interface Inner {
  stream: Socket;
  /** Called without a packet to start the next command. */
  handlePacket(packet?: object): void;
}

const tooMuch = () => new Error('the database sends too much');

/** Of the connections that may not serve yet. */
type Preparations = WeakMap<PoolConnection, Promise<unknown>>;

/** Within the deadline, a connection that can't be opened or prepared is followed by one to the next server. */
function boundWaiting(
  pool: Pool,
  timeoutMs: number,
  { addresses, preparations }: { addresses: ServerAddresses; preparations: Preparations },
): void {
  const getConnection = pool.getConnection.bind(pool) as GetConnection;
  const bounded: GetConnection = (callback) => {
    let waiting = true;
    let triesLeft = addresses.count;
    let lastError: Error | null = null;
    const settle: Parameters<GetConnection>[0] = (error, connection) => {
      clearTimeout(timer);
      if (!waiting) return connection?.release();
      waiting = false;
      callback(error && addresses.explained(error), connection);
    };
    const timer = setTimeout(() => settle(lastError ?? noConnection(timeoutMs)), timeoutMs);
    const fail = (error: NodeJS.ErrnoException, opened: object | null) => {
      // Any reason of the server: a changed password, too many clients, or a mode that accepts no clients.
      lastError = Object.assign(error, { fatal: true });
      if (opened) addresses.leave(opened, error);
      triesLeft -= 1;
      if (opened && triesLeft > 0 && waiting) attempt();
      else settle(error);
    };
    const attempt = () => {
      let opened: object | null = null;
      const arrive: Parameters<GetConnection>[0] = (error, connection) => {
        if (!connection) return fail(error ?? noConnection(timeoutMs), opened);
        const serve = () => {
          if (!addresses.hasLeft(connection)) return settle(null, connection);
          discard(connection);
          if (waiting) attempt();
        };
        const preparation = preparations.get(connection);
        if (!preparation) return serve();
        preparations.delete(connection);
        const use = () => {
          addresses.use(connection);
          serve();
        };
        const refuse = (refusal: NodeJS.ErrnoException) => {
          discard(connection);
          fail(refusal, connection.config);
        };
        preparation.then(use, refuse);
      };
      opened = addresses.openedBy(() => getConnection(arrive));
    };
    attempt();
  };
  pool.getConnection = bounded as typeof pool.getConnection;
}
