import { isIP } from 'node:net';
import type { HostIndex } from '../domains/host-index.js';
import type { Host } from '../domains/host-table.js';
import type { ProjectSlugs } from '../domains/project-slugs.js';

/** What a host stands for: this platform, the project of a generated name, or an attached domain. */
export type HostOwner =
  | { readonly kind: 'platform' }
  | { readonly kind: 'project'; readonly projectId: bigint }
  | { readonly kind: 'domain'; readonly host: Host };

const PLATFORM: HostOwner = { kind: 'platform' };

interface PlatformNames {
  /** Generated names are one label below it. */
  platformHost: string;
  /** The other names under which the platform itself is reached. */
  aliases: readonly string[];
}

/** Whose a host is. */
export class HostRouter {
  private readonly platformNames: ReadonlySet<string>;
  private readonly suffix: string;

  constructor(
    { platformHost, aliases }: PlatformNames,
    private readonly index: HostIndex,
    private readonly slugs: ProjectSlugs,
  ) {
    this.platformNames = new Set(['', 'localhost', platformHost, ...aliases.map(hostnameOf)]);
    this.suffix = `.${platformHost}`;
  }

  /** `hostname` as `hostnameOf` gives it. Null = nobody's. Throws `AppError unavailable` when that can't be known now. */
  ownerOf(hostname: string): HostOwner | null | Promise<HostOwner | null> {
    if (this.platformNames.has(hostname) || isIP(hostname) !== 0) return PLATFORM;
    if (hostname.endsWith(this.suffix)) {
      const slug = hostname.slice(0, -this.suffix.length);
      if (!slug.includes('.')) return this.ofProject(this.slugs.projectOf(slug));
    }
    if (this.index.isCurrent()) return this.ofDomain(hostname);
    return this.index.current().then(() => this.ofDomain(hostname));
  }

  private ofProject(
    found: ReturnType<ProjectSlugs['projectOf']>,
  ): HostOwner | null | Promise<HostOwner | null> {
    if (found instanceof Promise) return found.then((projectId) => this.ofProject(projectId));
    return found === null ? null : { kind: 'project', projectId: found };
  }

  private ofDomain(hostname: string): HostOwner | null {
    const host = this.index.find(hostname);
    return host && { kind: 'domain', host };
  }
}

/** The name in a Host header: without its port and one trailing dot, in lower case; of an IPv6 address without brackets. */
export function hostnameOf(header: string): string {
  if (header.startsWith('[')) return header.slice(1, header.indexOf(']'));
  const colon = header.indexOf(':');
  const name = colon === -1 ? header : header.slice(0, colon);
  return (name.endsWith('.') ? name.slice(0, -1) : name).toLowerCase();
}
