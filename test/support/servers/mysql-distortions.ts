import type { Distortion, Ends } from '../http/fault-proxy.js';

const LONGEST_PACKET = 0xffffff;
const QUERY = 0x03;
const PREPARE = 0x16;
const EXECUTE = 0x17;
const CLOSE = 0x19;
const TRICKLE_EVERY_MS = 100;

/** The server accepts a connection and says nothing. */
export const withoutGreeting = greeting(() => {});

export const slowGreeting = greeting(trickle);

/** An answer whose header announces the longest packet, followed by such packets without end. */
export const endlessGreeting = greeting((_, { client }) => flood(client, longestPacket()));

/** Each answer arrives one byte at a time. */
export const slowAnswers = answers(trickle);

/** Each answer is one row of endless length. */
export const endlessPacket = answers((_, { client }) => flood(client, longestPacket()));

/** Each answer is a list of one column, whose rows never end. */
export const endlessRows = statements(({ client }) => {
  const one = Buffer.from([1]);
  const name = text('id');
  const column = Buffer.concat([
    ...[text('def'), text(''), text(''), text(''), name, name],
    Buffer.from([0x0c, 45, 0, 255, 0, 0, 0, 253, 0, 0, 0, 0, 0]),
  ]);
  const eof = Buffer.from([0xfe, 0, 0, 2, 0]);
  client.write(Buffer.concat([one, column, eof].map((payload, index) => packet(index + 1, payload))));
  // NULL, in the text protocol.
  const rows = Array.from({ length: 1 << 16 }, (_, index) => packet((index + 4) % 256, Buffer.from([0xfb])));
  flood(client, Buffer.concat(rows));
});

/** MySQL itself answers with one row of 60 MB. */
export const hugeRow: Distortion = {
  ofRequest: (bytes, { server }) =>
    server.write(
      isStatement(bytes)
        ? packet(0, Buffer.from(`${String.fromCharCode(QUERY)}SELECT REPEAT('x', 60000000)`))
        : bytes,
    ),
};

/** Each answer has this payload. */
export function payload(bytes: readonly number[]): Distortion {
  return statements(({ client }) => client.write(packet(1, Buffer.from(bytes))));
}

/** Each answer belongs to another request, by its number. */
export const wrongSequence = answers((bytes, { client }) => {
  bytes[3] = Number(bytes[3]) + 7;
  client.write(bytes);
});

/** The server refuses each statement with the error, and executes none. */
export function refusal(code: number): Distortion {
  return statements(({ client }) => client.write(mysqlError(code)));
}

/** The server's first packet of an answer: an error. */
export function mysqlError(code: number, message = 'innermost secret'): Buffer {
  return packet(1, Buffer.from([0xff, code & 0xff, code >> 8, ...Buffer.from(`#HY000${message}`)]));
}

/** The first COMMITs that store toys are done. Then the connection is cut, or the answer comes late. */
export function unansweredCommits(count: number, lateMs: number | null): Distortion {
  const committing = new WeakSet<Ends>();
  const isCounted = commitsOfToys(count);
  return {
    ofRequest(bytes, ends) {
      if (isCounted(bytes, ends)) committing.add(ends);
      ends.server.write(bytes);
    },
    ofAnswer(bytes, ends) {
      if (!committing.delete(ends)) ends.client.write(bytes);
      else if (lateMs === null) ends.client.destroy();
      else setTimeout(() => ends.client.write(bytes), lateMs);
    },
  };
}

/** The server says that it is in its group. Returns whether the bytes ask for that. */
export const answeredAsMember = (bytes: Buffer, ends: Ends) =>
  answered(/SELECT 1 FROM performance_schema\.replication_group_members/, 'SELECT 1', bytes, ends);

/** Sends another statement in place of the one that asks this. Returns whether it did. */
function answered(question: RegExp, answer: string, bytes: Buffer, { server }: Ends): boolean {
  const asked = question.exec(bytes.toString('latin1'));
  if (!asked) return false;
  // Before the statement there may be attributes.
  server.write(packet(0, Buffer.concat([bytes.subarray(4, asked.index), Buffer.from(answer)])));
  return true;
}

/** A single server says that it is a node of a cluster. Its sessions can wait for no other node: DATABASE_CONSISTENCY=local. */
export const asNode: Distortion = {
  ofRequest(bytes, ends) {
    const question = /SELECT plugin_name AS plugin/;
    if (!answered(question, "SELECT 'group_replication' AS plugin", bytes, ends)) ends.server.write(bytes);
  },
};

interface RefusedCommits {
  count: number;
  code: number;
  message?: string;
  /** Whether the server then says that it is in its group. */
  isInGroup?: boolean;
}

/** The first COMMITs that store toys are refused with the error, and not done. */
export function refusedCommits({ count, code, message, isInGroup = false }: RefusedCommits): Distortion {
  const isCounted = commitsOfToys(count);
  return {
    ofRequest(bytes, ends) {
      if (isCounted(bytes, ends)) ends.client.write(mysqlError(code, message));
      else if (!isInGroup || !answeredAsMember(bytes, ends)) ends.server.write(bytes);
    },
  };
}

function commitsOfToys(count: number): (bytes: Buffer, ends: Ends) => boolean {
  const changed = new WeakSet<Ends>();
  let left = count;
  return (bytes, ends) => {
    if (bytes[4] !== QUERY) return false;
    if (bytes.includes('START TRANSACTION')) changed.delete(ends);
    if (/(INTO|FROM) `toys`/.test(String(bytes))) changed.add(ends);
    return bytes.includes('COMMIT') && changed.delete(ends) && left-- > 0;
  };
}

/** Each statement is executed; its answer ends in the middle. */
export const halfAnswers = answers((bytes, { client }) =>
  client.end(bytes.subarray(0, Math.ceil(bytes.length / 2))),
);

/** The server forgets the first prepared statement that each connection executes. */
export function forgottenStatements(): Distortion {
  const done = new WeakSet<Ends>();
  return {
    ofRequest(bytes, ends) {
      if (bytes[4] === EXECUTE && !done.has(ends)) {
        done.add(ends);
        ends.server.write(packet(0, Buffer.from([CLOSE, ...bytes.subarray(5, 9)])));
      }
      ends.server.write(bytes);
    },
  };
}

function greeting(instead: NonNullable<Distortion['ofAnswer']>): Distortion {
  return { ofAnswer: (bytes, ends) => (bytes[3] === 0 ? instead(bytes, ends) : ends.client.write(bytes)) };
}

function answers(instead: NonNullable<Distortion['ofAnswer']>): Distortion {
  return { ofAnswer: (bytes, ends) => (bytes[3] === 1 ? instead(bytes, ends) : ends.client.write(bytes)) };
}

/** `instead` answers each statement, in place of the server. */
function statements(instead: (ends: Ends) => void): Distortion {
  return { ofRequest: (bytes, ends) => (isStatement(bytes) ? instead(ends) : ends.server.write(bytes)) };
}

/** Whether a statement begins with these bytes of a connection. */
export function isStatement(bytes: Buffer): boolean {
  return bytes[3] === 0 && [QUERY, PREPARE, EXECUTE].includes(Number(bytes[4]));
}

function packet(sequence: number, payload: Buffer): Buffer {
  const { length } = payload;
  return Buffer.concat([Buffer.from([length & 0xff, (length >> 8) & 0xff, length >> 16, sequence]), payload]);
}

function longestPacket(): Buffer {
  return packet(1, Buffer.alloc(LONGEST_PACKET, 'x'));
}

function text(value: string): Buffer {
  return Buffer.from([value.length, ...Buffer.from(value)]);
}

function flood(client: Ends['client'], bytes: Buffer): void {
  const more = () => {
    if (client.writable) client.write(bytes, more);
  };
  more();
}

function trickle(bytes: Buffer, { client }: Ends): void {
  let sent = 0;
  const timer = setInterval(() => {
    if (client.writable && sent < bytes.length) client.write(bytes.subarray(sent, ++sent));
    else clearInterval(timer);
  }, TRICKLE_EVERY_MS);
}
