import type { GraphQLResolveInfo } from 'graphql';
import {
  Arg,
  Ctx,
  Directive,
  FieldResolver,
  ID,
  Info,
  Int,
  Mutation,
  Query,
  Resolver,
  Root,
} from 'type-graphql';
import { type Actor, keyActor } from '../audit/audit-log.js';
import { requireScope } from '../caller.js';
import type { CertificateFacts } from '../certificates/certificate.entity.js';
import type { CertificateStore } from '../certificates/certificate.store.js';
import type { Domain } from '../domains/domain.entity.js';
import type { DomainService } from '../domains/domain.service.js';
import { refuseUnknownDomain } from '../domains/domain.store.js';
import { type DomainAttachment, MAX_DOMAINS } from '../domains/domain-attachment.js';
import type { DomainCheck } from '../domains/domain-check.js';
import type { DomainEvent } from '../domains/domain-event.entity.js';
import type { DomainRemoval } from '../domains/domain-removal.js';
import { AppError, invalidRequest } from '../errors.js';
import type { IdempotencyService, Reservation } from '../idempotency/idempotency.service.js';
import { parseInt64 } from '../int64.js';
import { Batch } from './batch.js';
import { type Context, idempotencyKeyOf } from './context.js';
import {
  CertificateType,
  DomainEventType,
  DomainsInput,
  DomainsType,
  DomainType,
  RemovedDomainType,
} from './domain.type.js';
import { Entries } from './entries.js';
import { presentCertificate, presentDomain, presentDomainEvent, presentDomains } from './present-domain.js';
import { Statements } from './statements.js';

const MAX_EVENTS = 100;
const BIGINT_JSON = { write: (id: bigint) => String(id), read: (json: string) => BigInt(json) };

interface DomainResolverParts {
  domains: DomainService;
  attachment: DomainAttachment;
  check: DomainCheck;
  removal: DomainRemoval;
  endsTls: boolean;
  certificates: CertificateStore;
}

@Resolver(() => DomainType)
export class DomainResolver {
  /** For the fields that few ask for; what was presented leads back to its row. */
  private readonly rows = new WeakMap<DomainType, Domain>();
  private readonly lists = new Batch<null, DomainType[]>(async ({ caller }) => {
    const all = await this.parts.domains.list(caller.projectId);
    return all.map((domain) => this.present(domain));
  });
  private readonly single = new Batch<bigint, Map<bigint, Domain>>(async ({ caller }, ids) => {
    const found = await this.parts.domains.findAll(caller.projectId, [...new Set(ids)]);
    return new Map(found.map((domain) => [domain.id, domain]));
  });
  private readonly certificates = new Batch<Domain, Map<bigint, CertificateFacts>>((_, domains) =>
    this.parts.certificates.factsOf(domains),
  );
  private readonly timelines = new Batch<{ id: bigint; count: number }, Map<bigint, DomainEvent[]>>(
    ({ caller }, wanted) => this.parts.domains.timelines(caller.projectId, mostOfEach(wanted)),
  );

  constructor(
    private readonly parts: DomainResolverParts,
    private readonly idempotency: IdempotencyService,
    private readonly now: () => number,
  ) {}

  @Statements(1)
  @Entries(MAX_DOMAINS)
  @Query(() => [DomainType], {
    description: "The project's domains, oldest first. Needs the scope `domains`.",
  })
  async domains(@Ctx() context: Context): Promise<DomainType[]> {
    requireScope(context.caller, 'domains');
    return this.lists.join(context, null);
  }

  @Statements(1)
  @Query(() => DomainType, {
    nullable: true,
    description: 'One domain. Needs the scope `domains`.',
  })
  async domain(
    @Ctx() context: Context,
    @Arg('id', () => ID, { description: 'Its identifier.' }) text: string,
  ): Promise<DomainType> {
    requireScope(context.caller, 'domains');
    const id = domainId(text);
    const found = await this.single.join(context, id);
    return this.present(found.get(id) ?? refuseUnknownDomain());
  }

  @Statements(16)
  @Directive('@rateLimit(max: 60, perKey: true, window: "1m")')
  @Mutation(() => DomainType, {
    description:
      'Attaches a host name; `instructions` says which DNS records to create. Needs the plan PRO, a published project and the scope `domains`.',
  })
  addDomain(
    @Ctx() context: Context,
    @Info() info: GraphQLResolveInfo,
    @Arg('hostname', () => String, { description: 'Such as `shop.example.com`.' }) hostname: string,
  ): Promise<DomainType> {
    const { projectId } = context.caller;
    const { attachment, domains } = this.parts;
    return this.oneDomain(context, info, [hostname], async (actor, reserved) => {
      const add = (id?: bigint) => attachment.add(actor, projectId, hostname, id);
      if (!reserved) return add();
      return (await reserved.create(add)) ?? domains.get(projectId, reserved.id);
    });
  }

  @Statements(10)
  @Directive('@rateLimit(max: 60, perKey: true, window: "1m")')
  @Mutation(() => DomainType, {
    description:
      'Looks at DNS now, within 2 s; `diagnoses` says what is wrong. When nothing is, a certificate is ordered. Needs the scope `domains`.',
  })
  verifyDomain(
    @Ctx() context: Context,
    @Info() info: GraphQLResolveInfo,
    @Arg('id', () => ID, { description: 'Its identifier.' }) id: string,
  ): Promise<DomainType> {
    const { projectId } = context.caller;
    return this.oneDomain(context, info, [id], () => this.parts.check.verify(projectId, domainId(id)));
  }

  @Statements(14)
  @Directive('@rateLimit(max: 60, perKey: true, window: "1m")')
  @Mutation(() => DomainType, {
    description:
      'Starts anew when no certificate appears: looks at DNS and CAA and orders without waiting. Only a limit of the certificate authority is waited for. Needs the scope `domains`.',
  })
  reverifyDomain(
    @Ctx() context: Context,
    @Info() info: GraphQLResolveInfo,
    @Arg('id', () => ID, { description: 'Its identifier.' }) id: string,
  ): Promise<DomainType> {
    const { projectId } = context.caller;
    return this.oneDomain(context, info, [id], () => this.parts.check.reverify(projectId, domainId(id)));
  }

  @Statements(10)
  @Directive('@rateLimit(max: 60, perKey: true, window: "1m")')
  @Mutation(() => DomainsType, {
    description:
      'Sets the primary domain and the redirects, all or nothing; a dry run answers what would happen. Needs the scope `domains`.',
  })
  async setDomains(
    @Ctx() context: Context,
    @Arg('input', () => DomainsInput, { description: 'The whole configuration.' }) input: DomainsInput,
    @Arg('dryRun', () => Boolean, { defaultValue: false, description: 'Change nothing.' }) isDryRun: boolean,
  ): Promise<DomainsType> {
    // Setting the same again changes nothing, so a repetition needs no key.
    const { caller, requestId } = context;
    requireScope(caller, 'domains');
    const wanted = { primary: input.primary ?? null, redirects: input.redirects };
    const actor = keyActor(caller, requestId);
    return presentDomains(await this.parts.domains.configure(actor, caller.projectId, { wanted, isDryRun }));
  }

  @Statements(12)
  @Directive('@rateLimit(max: 60, perKey: true, window: "1m")')
  @Mutation(() => RemovedDomainType, {
    description:
      'Removes a domain; answers when no process serves it any more, kept connections included. Needs the scope `domains`.',
  })
  async removeDomain(
    @Ctx() context: Context,
    @Info() info: GraphQLResolveInfo,
    @Arg('id', () => ID, { description: 'Its identifier.' }) id: string,
  ): Promise<RemovedDomainType> {
    const { projectId } = context.caller;
    return this.once(context, info, [id], REMOVED_JSON, async (actor) => {
      const { domain, stoppedAtMs } = await this.parts.removal.remove(actor, projectId, domainId(id));
      return { id: String(domain.id), hostname: domain.hostname, stoppedAt: new Date(stoppedAtMs) };
    });
  }

  @Statements(1)
  @FieldResolver(() => CertificateType, {
    nullable: true,
    description: 'The certificate in force; null = none yet.',
  })
  async certificate(@Root() domain: DomainType, @Ctx() context: Context): Promise<CertificateType | null> {
    const row = this.rowOf(domain);
    const certificates = await this.certificates.join(context, row);
    const certificate = certificates.get(row.id);
    return certificate ? presentCertificate(certificate, row.nextOrderAtMs) : null;
  }

  @Statements(1)
  @FieldResolver(() => [DomainEventType], { description: 'What happened to it, newest first.' })
  async timeline(
    @Root() domain: DomainType,
    @Ctx() context: Context,
    @Arg('first', () => Int, { defaultValue: 20, description: `How many: 1 to ${MAX_EVENTS}.` })
    first: number,
  ): Promise<DomainEventType[]> {
    if (first < 1 || first > MAX_EVENTS) {
      throw invalidRequest([{ field: 'first', message: `must be from 1 to ${MAX_EVENTS}` }]);
    }
    const { id } = this.rowOf(domain);
    const timelines = await this.timelines.join(context, { id, count: first });
    return (timelines.get(id) ?? []).slice(0, first).map(presentDomainEvent);
  }

  /** A mutation that answers with a domain: a repetition gets the same one, as it is by then. */
  private async oneDomain(
    context: Context,
    info: GraphQLResolveInfo,
    input: string[],
    work: (actor: Actor, reserved?: Reservation) => Promise<Domain>,
  ): Promise<DomainType> {
    let domain: Domain | null = null;
    const id = await this.once(context, info, input, BIGINT_JSON, async (actor, reserved) => {
      domain = await work(actor, reserved);
      return domain.id;
    });
    return this.present(domain ?? (await this.parts.domains.get(context.caller.projectId, id)));
  }

  private async once<T>(
    context: Context,
    info: GraphQLResolveInfo,
    input: string[],
    codec: { write(value: T): string; read(json: string): T },
    work: (actor: Actor, reserved?: Reservation) => Promise<T>,
  ): Promise<T> {
    const { caller, requestId } = context;
    requireScope(caller, 'domains');
    const actor = keyActor(caller, requestId);
    const key = idempotencyKeyOf(context, info);
    if (key === null) return work(actor);
    const attempt = { caller, key, operation: info.fieldName, input };
    return this.idempotency.once(attempt, (reserved) => work(actor, reserved), codec);
  }

  private present(domain: Domain): DomainType {
    const presented = presentDomain(domain, (one) => this.parts.domains.instructions(one), {
      atMs: this.now(),
      endsTls: this.parts.endsTls,
    });
    this.rows.set(presented, domain);
    return presented;
  }

  private rowOf(domain: DomainType): Domain {
    const row = this.rows.get(domain);
    if (!row) throw new Error('a domain was not presented here');
    return row;
  }
}

const REMOVED_JSON = {
  write: (removed: RemovedDomainType) => JSON.stringify(removed),
  read: (json: string): RemovedDomainType => {
    const removed = JSON.parse(json);
    return { ...removed, stoppedAt: new Date(removed.stoppedAt) };
  },
};

/** Aliases may ask for different numbers of the same timeline. */
function mostOfEach(wanted: readonly { id: bigint; count: number }[]): Map<bigint, number> {
  const counts = new Map<bigint, number>();
  for (const { id, count } of wanted) counts.set(id, Math.max(count, counts.get(id) ?? 0));
  return counts;
}

/** An id that is no integer belongs to no domain. Throws `AppError not_found`. */
function domainId(text: string): bigint {
  const id = parseInt64(text);
  if (id === null) throw new AppError('not_found', 'There is no such domain: its id is an integer.');
  return id;
}
