import 'reflect-metadata';
import { type Gateway, loadGateway } from '../app/gateway.js';
import { loadConfig } from '../ground/config/config.js';
import { createLogger } from '../ground/log/logger.js';
import { serve } from '../process/serve.js';

export type { NounFacts } from './noun-facts.js';
export { nounSuites, type SuiteOptions } from './noun-suites.js';

const ACTOR = { name: 'test', requestId: null };
/** A day and a minute of no test spend it. */
const QUOTA = 1_000_000_000;

export interface RunningGateway {
  /** `http://127.0.0.1:<port>`, without a slash at its end. */
  readonly url: string;
  /** Of an empty project, with every scope. */
  readonly apiKey: string;
  stop(): Promise<void>;
}

/** Serves the gateway on a free port with an empty SQLite database in memory, for tests. `env` adds settings. */
export async function startGateway(
  named: Gateway,
  env: Record<string, string> = {},
): Promise<RunningGateway> {
  const gateway = await loadGateway(named);
  const settings = { DATABASE_URL: 'sqlite::memory:', PORT: '0', LOG_LEVEL: 'silent', ...env };
  const config = loadConfig(settings, gateway.slug);
  const logger = createLogger({ level: config.logLevel, format: 'json' }, process.stderr);
  const { app, db, addresses } = await serve(gateway, config, { logger });
  const stop = async () => {
    await app.http.close();
    await db.close();
  };
  try {
    const { projects, apiKeys } = app.services;
    const wanted = { slug: 'test', name: null, plan: 'ENTERPRISE', perMinute: QUOTA, perDay: QUOTA } as const;
    const { id: projectId } = await projects.create(ACTOR, wanted);
    const key = { projectId, name: 'test', scopes: gateway.scopes.all, expiresAtMs: null };
    const { token } = await apiKeys.create(ACTOR, key);
    return { url: addresses.base, apiKey: token, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
