import { type FieldProblem, invalidField, invalidRequest } from '../ground/kernel/errors.js';
import { got } from '../ground/kernel/got.js';
import { isJsonObject } from '../ground/kernel/json.js';
import { listed } from './diagnosis/finding.js';
import { normalizeHostname } from './names/hostname.js';
import { MAX_REDIRECTS } from './store/domain-sizes.js';

/** The owner's configuration of the project's domains. Spec: Custom domains 10. */
export interface DomainConfig {
  primary: string | null;
  redirects: DomainRedirect[];
}

interface DomainRedirect {
  from: string;
  to: string;
  status: number;
}

/** The effect of a configuration on an attached host. A redirect keeps path and query. */
export interface DomainEffect {
  hostname: string;
  action: 'SERVES' | 'REDIRECTS';
  /** Null when the host serves. */
  to: string | null;
  status: number | null;
  isPrimary: boolean;
}

/**
 * The configuration with normalised host names. `attached` are the domains of the project; a domain of another project counts
 * as unknown. Throws `AppError invalid_request` with all problems.
 */
export function checkConfig(wanted: DomainConfig, attached: readonly { hostname: string }[]): DomainConfig {
  if (wanted.redirects.length > MAX_REDIRECTS) throw invalidRequest(TOO_MANY);
  const hosts = new Set(attached.map(({ hostname }) => hostname));
  const config = {
    primary: wanted.primary === null ? null : asCompared(wanted.primary),
    redirects: wanted.redirects.map(({ from, to, status }) => ({
      from: asCompared(from),
      to: asCompared(to),
      status,
    })),
  };
  const problems = problemsOf(config, hosts);
  if (problems.length > 0) throw invalidRequest(problems);
  return config;
}

export function effectOf({ primary, redirects }: DomainConfig, hostname: string): DomainEffect {
  const redirect = redirects.find(({ from }) => from === hostname);
  return {
    hostname,
    action: redirect ? 'REDIRECTS' : 'SERVES',
    to: redirect?.to ?? null,
    status: redirect?.status ?? null,
    isPrimary: hostname === primary,
  };
}

/** An example request and its result, for people. */
export function exampleOf({ hostname, to, status }: DomainEffect): string {
  const request = `https://${hostname}/a?b`;
  return to === null ? `${request} is answered by the project` : `${request} → ${status} https://${to}/a?b`;
}

const TOO_MANY = [{ field: 'redirects', message: `must have at most ${MAX_REDIRECTS} entries` }];
const REDIRECT_STATUSES = [301, 302, 307, 308];
const WRONG_STATUS = 'must be 301, 302, 307 or 308';

const asCompared = (name: string) => normalizeHostname(name) ?? name;

const UNKNOWN = 'must be a domain attached to this project: add it first, or use another domain';

/** Checks each redirect against those before it. Of several that contradict, the last one gets the problem. */
function problemsOf({ primary, redirects }: DomainConfig, hosts: ReadonlySet<string>): FieldProblem[] {
  const problems: FieldProblem[] = [];
  const note = (field: string, message: string | null) => {
    if (message !== null) problems.push({ field, message });
  };
  const unknown = (name: string) => (hosts.has(name) ? null : UNKNOWN);
  if (primary !== null) {
    const isRedirected = redirects.some(({ from }) => from === primary);
    const redirected = isRedirected ? `must serve the project: remove the redirect from ${primary}` : null;
    note('primary', unknown(primary) ?? redirected);
  }
  const targets = new Map<string, string>();
  for (const [index, redirect] of redirects.entries()) {
    const { from, to, status } = redirect;
    const repeated = targets.has(from) ? `must be unique: ${from} already redirects` : null;
    const ofFrom = unknown(from) ?? repeated;
    const ofTo = unknown(to) ?? circle(redirect, targets);
    note(`redirects[${index}].from`, ofFrom);
    note(`redirects[${index}].to`, ofTo);
    note(`redirects[${index}].status`, REDIRECT_STATUSES.includes(status) ? null : got(WRONG_STATUS, status));
    if (ofFrom === null && ofTo === null) targets.set(from, to);
  }
  return problems;
}

function circle({ from, to }: DomainRedirect, targets: ReadonlyMap<string, string>): string | null {
  if (from === to) return 'must be a different domain than from';
  const path = pathOf(to, targets);
  return path.at(-1) === from ? `must not form a loop: ${listed([from, ...path], ' → ')}` : null;
}

/** The hosts that a visitor of `start` is redirected to, in order. Ends, because `targets` never contains a loop. */
function pathOf(start: string, targets: ReadonlyMap<string, string>): string[] {
  const path = [start];
  for (let next = targets.get(start); next !== undefined; next = targets.get(next)) path.push(next);
  return path;
}

/** The largest configuration. A reader needs at most one byte more to see that a file is too large. */
export const MAX_FILE_BYTES = 100_000;

/**
 * Parses SPEC's configuration shape: `{"domains": {"primary", "redirects": [{"from", "to", "status"}]}}`. Does not check
 * the names. Throws `AppError invalid_request`. Spec: Custom domains 10.
 */
export function readDomainConfig(json: string): DomainConfig {
  const file = parse(json);
  const domains = isJsonObject(file) ? file.domains : null;
  if (!isJsonObject(domains))
    throw invalidField('domains', got('must be an object in a JSON file', domains ?? undefined));
  const problems: FieldProblem[] = [];
  const need = (isRight: boolean, field: string, rule: string, value: unknown) => {
    if (!isRight) problems.push({ field, message: got(rule, value) });
  };
  const { primary = null, redirects = [] } = domains;
  need(primary === null || typeof primary === 'string', 'primary', 'must be a domain or null', primary);
  need(Array.isArray(redirects), 'redirects', 'must be a list', redirects);
  const entries = (Array.isArray(redirects) ? redirects : []).map((item, at) => {
    const { from, to, status = 301 }: Record<string, unknown> = isJsonObject(item) ? item : {};
    need(typeof from === 'string', `redirects[${at}].from`, 'must be a domain', from);
    need(typeof to === 'string', `redirects[${at}].to`, 'must be a domain', to);
    need(Number.isInteger(status), `redirects[${at}].status`, WRONG_STATUS, status);
    return { from, to, status } as DomainRedirect;
  });
  if (entries.length > MAX_REDIRECTS) throw invalidRequest(TOO_MANY);
  if (problems.length > 0) throw invalidRequest(problems);
  return { primary: primary as string | null, redirects: entries };
}

function parse(json: string): unknown {
  if (json.length > MAX_FILE_BYTES) throw invalidField('file', 'is larger than 100 KB');
  try {
    return JSON.parse(json);
  } catch (error) {
    throw invalidField('file', `must be JSON: ${(error as Error).message}`);
  }
}
