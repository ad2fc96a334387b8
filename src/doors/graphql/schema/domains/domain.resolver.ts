import { Arg, Ctx, Directive, FieldResolver, ID, Int, Mutation, Query, Resolver, Root } from 'type-graphql';
import type { CertificateFacts } from '../../../../domains/certificates/store/certificate.store.js';
import { type Diagnosis, MAX_DIAGNOSES } from '../../../../domains/diagnosis/diagnosis.js';
import type { ProjectDomains, RecordToCreate } from '../../../../domains/project-domains.js';
import type { Domain } from '../../../../domains/store/domain.entity.js';
import { MAX_DOMAINS, MAX_RECORDS_TO_CREATE } from '../../../../domains/store/domain-sizes.js';
import {
  type DomainStatus,
  isServing,
  refuseUnknownDomain,
  statusOf,
} from '../../../../domains/store/domain-status.js';
import type { DomainEvent } from '../../../../domains/store/timeline.js';
import type { ServiceCall } from '../../../../ground/kernel/caller.js';
import { invalidField } from '../../../../ground/kernel/errors.js';
import { got } from '../../../../ground/kernel/got.js';
import { parseRecordId } from '../../../../ground/kernel/int64.js';
import { MAX_PAGE_SIZE } from '../../../../ground/kernel/validation.js';
import { Batch } from '../../execution/batch.js';
import { Call, type Context, serviceCallOf } from '../../execution/context.js';
import { Entries } from '../../operations/type-options.js';
import { DiagnosisType, USUAL_DIAGNOSES } from './diagnosis.type.js';
import {
  CertificateType,
  DnsRecordType,
  DomainEventType,
  DomainRedirectType,
  DomainStatusEnum,
  DomainsInput,
  DomainsType,
  DomainType,
  RemovedDomainType,
} from './domain.type.js';

@Resolver(() => DomainType)
export class DomainResolver {
  private readonly lists = new Batch<null, Domain[]>(async (context) => [
    await (await this.service()).list(serviceCallOf(context)),
  ]);
  private readonly single = new Batch<bigint, Domain | undefined>(async (context, ids) => {
    const found = await (await this.service()).getAll(serviceCallOf(context), ids);
    return ids.map((id) => found.get(id));
  });
  private readonly certificates = new Batch<Domain, CertificateFacts | undefined>(
    async (context, domains) => {
      const found = await (await this.service()).certificates(serviceCallOf(context), domains);
      return domains.map(({ id }) => found.get(id));
    },
  );
  private readonly timelines = new Batch<{ id: bigint; count: number }, readonly DomainEvent[]>(
    async (context, wanted) => {
      // Aliases may request different numbers of events of the same timeline: the largest is the last.
      const counts = wanted
        .toSorted((a, b) => a.count - b.count)
        .map(({ id, count }) => [id, count] as const);
      const found = await (await this.service()).timelines(serviceCallOf(context), new Map(counts));
      return wanted.map(({ id, count }) => (found.get(id) ?? []).slice(0, count));
    },
  );

  constructor(
    /** Loads the code of domains at its first call. */
    private readonly service: () => Promise<ProjectDomains>,
    /** Whether TLS ends in this process, with the certificates ordered here. */
    private readonly endsTls: boolean,
    private readonly now: () => number,
  ) {}

  @Entries(MAX_DOMAINS)
  @Query(() => [DomainType], {
    description: "The project's domains, oldest first. Needs the scope `domains`.",
  })
  async domains(@Ctx() context: Context): Promise<Domain[]> {
    return this.lists.join(context, null);
  }

  @Query(() => DomainType, {
    nullable: true,
    description: 'A domain of the project. Needs the scope `domains`.',
  })
  async domain(
    @Ctx() context: Context,
    @Arg('id', () => ID, { description: "The domain's identifier." }) text: string,
  ): Promise<Domain> {
    return (await this.single.join(context, domainId(text))) ?? refuseUnknownDomain();
  }

  @Directive('@rateLimit(max: 60, perKey: true, window: "1m")')
  @Mutation(() => DomainType, {
    description:
      'Attaches a host name; `instructions` lists the DNS records to create. Needs the plan PRO, a published project and the scope `domains`.',
  })
  async addDomain(
    @Call() call: ServiceCall,
    @Arg('hostname', () => String, { description: 'The host name, such as `shop.example.com`.' })
    hostname: string,
  ): Promise<Domain> {
    return (await this.service()).add(call, hostname);
  }

  @Directive('@rateLimit(max: 60, perKey: true, window: "1m")')
  @Mutation(() => DomainType, {
    description:
      'Checks DNS now, within 2 s; `diagnoses` lists the problems. If there are none, a certificate is ordered. Needs the scope `domains`.',
  })
  async verifyDomain(
    @Call() call: ServiceCall,
    @Arg('id', () => ID, { description: "The domain's identifier." }) id: string,
  ): Promise<Domain> {
    return (await this.service()).verify(call, domainId(id));
  }

  @Directive('@rateLimit(max: 60, perKey: true, window: "1m")')
  @Mutation(() => DomainType, {
    description:
      'Starts a new attempt when no certificate appears: checks DNS and CAA, and orders at once. It waits only for a limit of the certificate authority. Needs the scope `domains`.',
  })
  async reverifyDomain(
    @Call() call: ServiceCall,
    @Arg('id', () => ID, { description: "The domain's identifier." }) id: string,
  ): Promise<Domain> {
    return (await this.service()).verify(call, domainId(id), { isOrdering: true });
  }

  @Directive('@rateLimit(max: 60, perKey: true, window: "1m")')
  @Mutation(() => DomainsType, {
    description:
      'Sets the primary domain and the redirects, all or nothing; a dry run returns what would happen. Needs the scope `domains`.',
  })
  async setDomains(
    @Ctx() context: Context,
    @Arg('input', () => DomainsInput, { description: 'The whole configuration.' }) input: DomainsInput,
    @Arg('dryRun', () => Boolean, {
      defaultValue: false,
      description: 'Return the result without changing anything.',
    })
    isDryRun: boolean,
  ): Promise<DomainsType> {
    const wanted = { primary: input.primary ?? null, redirects: input.redirects };
    const service = await this.service();
    const configured = await service.configure(serviceCallOf(context), { wanted, isDryRun });
    const effects = configured.effects.map((effect) => ({ ...effect, example: service.example(effect) }));
    return { ...configured.config, effects, isApplied: configured.isApplied };
  }

  @Directive('@rateLimit(max: 60, perKey: true, window: "1m")')
  @Mutation(() => RemovedDomainType, {
    description:
      'Removes a domain. Responds once no process serves it any more, not even on kept-alive connections. Needs the scope `domains`.',
  })
  async removeDomain(
    @Call() call: ServiceCall,
    @Arg('id', () => ID, { description: "The domain's identifier." }) id: string,
  ): Promise<RemovedDomainType> {
    const removed = await (await this.service()).remove(call, domainId(id));
    return { ...removed, id: String(removed.id) };
  }

  @FieldResolver(() => ID, { description: 'The identifier.' })
  id(@Root() { id }: Domain): string {
    return String(id);
  }

  @FieldResolver(() => DomainStatusEnum, { description: 'The status.' })
  status(@Root() domain: Domain): DomainStatus {
    return statusOf(domain, this.now());
  }

  @FieldResolver(() => Boolean, { description: 'Whether requests for it are answered.' })
  serving(@Root() domain: Domain): boolean {
    return isServing(domain, { atMs: this.now(), endsTls: this.endsTls });
  }

  @FieldResolver(() => DomainRedirectType, {
    nullable: true,
    description: 'The redirect of this host; null = it serves the project.',
  })
  redirect(@Root() { hostname, redirectTo, redirectStatus }: Domain): DomainRedirectType | null {
    return redirectTo === null ? null : { from: hostname, to: redirectTo, status: redirectStatus ?? 301 };
  }

  @Entries(MAX_RECORDS_TO_CREATE)
  @FieldResolver(() => [DnsRecordType], { description: 'The DNS records that still have to be created.' })
  async instructions(@Root() domain: Domain): Promise<RecordToCreate[]> {
    return (await this.service()).instructions(domain);
  }

  @Entries(USUAL_DIAGNOSES, MAX_DIAGNOSES)
  @FieldResolver(() => [DiagnosisType], { description: 'The findings of the last check and the last order.' })
  async diagnoses(@Root() domain: Domain): Promise<Diagnosis[]> {
    return (await this.service()).diagnoses(domain, this.now());
  }

  @FieldResolver(() => CertificateType, {
    nullable: true,
    description: 'The certificate in use; null = none yet.',
  })
  async certificate(@Root() domain: Domain, @Ctx() context: Context): Promise<CertificateType | null> {
    const certificate = await this.certificates.join(context, domain);
    return certificate ? { ...certificate, renewAtMs: domain.nextOrderAtMs } : null;
  }

  @FieldResolver(() => [DomainEventType], { description: 'The events of the domain, newest first.' })
  async timeline(
    @Root() { id }: Domain,
    @Ctx() context: Context,
    @Arg('first', () => Int, { defaultValue: 20, description: `How many events: 1 to ${MAX_PAGE_SIZE}.` })
    first: number,
  ): Promise<DomainEvent[]> {
    if (first < 1 || first > MAX_PAGE_SIZE) {
      throw invalidField('first', got(`must be from 1 to ${MAX_PAGE_SIZE}`, first));
    }
    return [...(await this.timelines.join(context, { id, count: first }))];
  }
}

const domainId = (text: string) => parseRecordId(text, 'domain');
