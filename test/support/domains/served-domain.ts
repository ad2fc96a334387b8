import { once } from 'node:events';
import { type Agent, type IncomingHttpHeaders, type RequestOptions, request } from 'node:http';
import { request as secureRequest } from 'node:https';
import type { AddressInfo } from 'node:net';
import { connect, type TLSSocket } from 'node:tls';
import * as x509 from '@peculiar/x509';
import { pino } from 'pino';
import type { EntityManager } from 'typeorm';
import { createApp } from '../../../src/app/app.js';
import { Certificate } from '../../../src/domains/certificates/store/certificate.store.js';
import { certificateKeyContext, Sealer } from '../../../src/domains/certificates/store/sealer.js';
import { Domain } from '../../../src/domains/store/domain.entity.js';
import { newDomain } from '../../../src/domains/store/domain.store.js';
import type { Config } from '../../../src/ground/config/config.js';
import { nextChange } from '../../../src/ground/database/change-sequence.entity.js';
import { IdGenerator } from '../../../src/ground/kernel/ids.js';
import type { DatabaseKind } from '../databases.js';
import { GATEWAY } from '../gateway/tested-gateway.js';
import { freePort } from '../servers/daemon.js';
import { startApp, type TestApp } from '../start-app.js';

const HOUR_MS = 3_600_000;
const ids = new IdGenerator(Date.now);

type StartOptions = Parameters<typeof startApp>[0];

export interface ServingApp extends TestApp {
  httpsPort: number;
}

/** Starts an app that serves attached domains over TLS. */
export async function startServing(kind: DatabaseKind, options: StartOptions = {}): Promise<ServingApp> {
  const httpsPort = await freePort();
  const env = { HTTPS_PORT: String(httpsPort), SECRET_KEY: 'ab'.repeat(32), ...options.env };
  const app = await startApp({ kind, ...options, env });
  return Object.assign(app, { httpsPort });
}

/** Starts a second app on the same database, as a stand-in for another process. */
export async function startAnother(
  app: TestApp,
  changes: Partial<Config>,
): Promise<{ url: string; httpsPort: number; close(): Promise<void> }> {
  const config = { ...app.config, ...changes };
  const logger = pino({ level: 'silent' });
  const other = await createApp({ gateway: GATEWAY, config, db: app.db, logger, now: () => app.clock.now });
  await other.listen();
  const { port } = other.http.server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, httpsPort: config.httpsPort, close: () => other.http.close() };
}

/** An app, or the database and the settings of a gateway process. */
type Rows = Pick<TestApp, 'db' | 'clock'> & { config: Pick<Config, 'secretKeys'> };

/** Inserts the row that attaching, verifying and, with `certificate`, issuing leave. */
export async function attach(
  app: Rows,
  projectId: bigint,
  { certificate = true, ...values }: Partial<Domain> & { hostname: string; certificate?: boolean },
): Promise<Domain> {
  const { now } = app.clock;
  const domain = Object.assign(domainRow(projectId, values.hostname, now), values);
  await app.db.transaction(async (manager) => {
    if (certificate) await certify(app, manager, domain);
    await manager.insert(Domain, { ...domain, changeNumber: await nextChange(manager) });
  });
  return domain;
}

export function domainRow(projectId: bigint, hostname: string, now: number): Domain {
  const wanted = {
    projectId,
    hostname,
    registrableDomain: hostname.split('.').slice(-2).join('.'),
    isApex: false,
    ownership: 'ASSUMED' as const,
    nextCheckAtMs: null,
  };
  const verified = { dns: 'MATCHES' as const, checkedAtMs: now, verifiedAtMs: now };
  return { ...newDomain(wanted, now), ...verified, id: ids.next(), changeNumber: 0n };
}

export async function change(app: TestApp, id: bigint, values: Partial<Domain>): Promise<void> {
  await app.db.transaction(async (manager) => {
    await manager.update(Domain, { id }, { ...values, changeNumber: await nextChange(manager) });
  });
}

export function remove(app: TestApp, { id }: Domain): Promise<void> {
  return change(app, id, { attachedHostname: null, removedAtMs: app.clock.now });
}

/** Replaces the certificate with a new one. */
export async function renew(app: TestApp, domain: Domain): Promise<void> {
  await app.db.transaction(async (manager) => {
    await certify(app, manager, domain);
    const { certificateId, certificateEndsAtMs } = domain;
    const changeNumber = await nextChange(manager);
    await manager.update(Domain, { id: domain.id }, { certificateId, certificateEndsAtMs, changeNumber });
  });
}

let serial = 0;

async function certify(app: Rows, manager: EntityManager, domain: Domain): Promise<void> {
  const { hostname } = domain;
  const { now } = app.clock;
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
  const keys = await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  serial += 1;
  const notAfterMs = domain.certificateEndsAtMs ?? now + HOUR_MS;
  const made = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: serial.toString(16).padStart(8, '0'),
    name: `CN=${hostname}`,
    notBefore: new Date(now - HOUR_MS),
    notAfter: new Date(notAfterMs),
    signingAlgorithm: algorithm,
    keys,
    extensions: [new x509.SubjectAlternativeNameExtension([{ type: 'dns', value: hostname }])],
  });
  const key = x509.PemConverter.encode(
    await crypto.subtle.exportKey('pkcs8', keys.privateKey),
    'PRIVATE KEY',
  );
  const id = ids.next();
  await manager.insert(Certificate, {
    id,
    domainId: domain.id,
    hostname,
    chainPem: made.toString('pem'),
    sealedKey: new Sealer(app.config.secretKeys).seal(key, certificateKeyContext(hostname)),
    issuer: hostname,
    serialNumber: made.serialNumber,
    notBeforeMs: now - HOUR_MS,
    notAfterMs,
    renewAtMs: now,
    renewalId: null,
    createdAtMs: now,
  });
  Object.assign(domain, { certificateId: id, certificateEndsAtMs: notAfterMs });
}

export interface Visit {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
  code: unknown;
}

interface VisitOptions {
  method?: string;
  token?: string;
  headers?: Record<string, string>;
  body?: string;
  /** Default: a new connection for every request. */
  agent?: Agent;
  servername?: string;
}

/** Sends a request over plain HTTP for the host. */
export function plain(
  { url }: { url: string },
  host: string,
  path: string,
  options: VisitOptions = {},
): Promise<Visit> {
  const { hostname, port } = new URL(url);
  return send(request, { hostname, port, path, agent: options.agent ?? false }, host, options);
}

/** Sends a request over TLS for the host. Rejects when the handshake is refused or the connection is cut. */
export function visit(
  { httpsPort }: { httpsPort: number },
  host: string,
  path: string,
  options: VisitOptions = {},
): Promise<Visit> {
  const { agent = false, servername = host } = options;
  const target = { host: '127.0.0.1', port: httpsPort, path, agent, servername, rejectUnauthorized: false };
  return send(secureRequest as typeof request, target, host, options);
}

function send(
  open: typeof request,
  target: RequestOptions,
  host: string,
  { method = 'GET', token, headers = {}, body }: VisitOptions,
): Promise<Visit> {
  const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` };
  return new Promise((resolve, reject) => {
    const sent = open({ ...target, method, headers: { host, ...authorization, ...headers } }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        const isJson = /json/.test(response.headers['content-type'] ?? '') && text !== '';
        const code = isJson ? JSON.parse(text).code : undefined;
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text, code });
      });
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

interface HandshakeOptions {
  maxVersion?: 'TLSv1.2' | 'TLSv1.3';
  session?: Buffer;
  ALPNProtocols?: string[];
}

/** Opens a TLS connection; an empty `servername` is not sent. Rejects with the reason of a refused handshake. */
export async function handshake(
  { httpsPort }: { httpsPort: number },
  servername: string,
  options: HandshakeOptions = {},
): Promise<TLSSocket> {
  // If the option is missing, Node sends the name that it dials.
  const name = servername === '' ? {} : { servername };
  const socket = connect({
    host: '127.0.0.1',
    port: httpsPort,
    rejectUnauthorized: false,
    ...name,
    ...options,
  });
  await once(socket, 'secureConnect');
  socket.on('error', () => {});
  return socket;
}

/** Sends a request over an open connection; returns the text up to a whole answer or the end of the connection. */
export async function ask(socket: TLSSocket, host: string, path: string): Promise<string> {
  let text = '';
  const arrived = new Promise<string>((resolve) => {
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      if (/\r\n\r\n/.test(text)) resolve(text);
    });
    socket.once('close', () => resolve(text));
  });
  socket.write(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
  return arrived;
}
