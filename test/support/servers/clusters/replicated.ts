import { createConnection, type RowDataPacket } from 'mysql2/promise';
import { startMariadb } from '../mariadb.js';
import { startMysql } from '../mysql.js';
import type { SqlServer } from '../sql-server.js';

export interface Replicated {
  primary: SqlServer;
  replica: SqlServer;
  /** Whether the replica applies what it gets from the primary. */
  apply(isOn: boolean): Promise<void>;
  stop(): Promise<void>;
}

const ENGINES = {
  mysql: {
    start: startMysql,
    settings: ['--gtid-mode=ON', '--enforce-gtid-consistency=ON'],
    follow: (port: string) => [
      `CHANGE REPLICATION SOURCE TO SOURCE_HOST = '127.0.0.1', SOURCE_PORT = ${port}, SOURCE_USER = 'root', SOURCE_AUTO_POSITION = 1, GET_SOURCE_PUBLIC_KEY = 1, SOURCE_CONNECT_RETRY = 1`,
      'START REPLICA',
    ],
    apply: (isOn: boolean) => `${isOn ? 'START' : 'STOP'} REPLICA SQL_THREAD`,
  },
  mariadb: {
    start: startMariadb,
    settings: ['--gtid-strict-mode=ON'],
    follow: (port: string) => [
      `CHANGE MASTER TO MASTER_HOST = '127.0.0.1', MASTER_PORT = ${port}, MASTER_USER = 'root', MASTER_USE_GTID = slave_pos, MASTER_CONNECT_RETRY = 1`,
      'START SLAVE',
    ],
    apply: (isOn: boolean) => `${isOn ? 'START' : 'STOP'} SLAVE SQL_THREAD`,
  },
};

/** Starts a primary with one replica, which is read-only for users without its administration. */
export async function startReplicated(kind: keyof typeof ENGINES): Promise<Replicated> {
  const { start, settings, follow, apply } = ENGINES[kind];
  const args = (id: number) => [...settings, '--log-bin=binlog', `--server-id=${id}`];
  const [primary, replica] = await Promise.all([
    start({ args: args(1) }),
    start({ args: [...args(2), '--read-only=ON'] }),
  ]);
  const stop = async () => {
    await Promise.all([primary.stop(), replica.stop()]);
  };
  try {
    for (const sql of follow(new URL(primary.url).port)) await query(replica, sql);
  } catch (error) {
    await stop();
    throw error;
  }
  return { primary, replica, stop, apply: async (isOn) => void (await query(replica, apply(isOn))) };
}

/** Runs a statement as root. */
export async function query({ url }: SqlServer, sql: string): Promise<RowDataPacket[]> {
  const connection = await createConnection(url);
  try {
    const [rows] = await connection.query<RowDataPacket[]>(sql);
    return rows;
  } finally {
    connection.destroy();
  }
}
