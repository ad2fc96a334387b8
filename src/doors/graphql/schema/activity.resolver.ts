import { Arg, Ctx, FieldResolver, Int, Resolver } from 'type-graphql';
import {
  type AuditPage,
  FILTERED_EVENTS,
  type ProjectAudit,
  type WantedEvents,
} from '../../../tenants/audit/project-audit.js';
import {
  MAX_STRIKING_CLIENTS,
  type ProjectRequests,
  type RequestFilter,
  type RequestPage,
  type StrikingClient,
  type WantedRequests,
} from '../../../tenants/request-log/project-requests.js';
import { Batch } from '../execution/batch.js';
import { type Context, serviceCallOf } from '../execution/context.js';
import { Entries } from '../operations/type-options.js';
import { AuditEventConnectionType, AuditEventFilterInput, auditFilter } from './lists/audit-event.type.js';
import {
  RequestConnectionType,
  RequestFilterInput,
  StrikingClientType,
} from './lists/logged-request.type.js';
import {
  ACTIVITY_PAGE_SIZE,
  connection,
  cursorsOf,
  FIRST_RULE,
  requestedPage,
  valuesOf,
} from './lists/page.js';
import { ProjectType } from './project.resolver.js';

/** The history of a project: its audit log, and the log of its requests. */
@Resolver(() => ProjectType)
export class ActivityResolver {
  private readonly audits = new Batch<WantedEvents, AuditPage>((context, wanted) =>
    this.audit.read(serviceCallOf(context), wanted),
  );
  private readonly requestLists = new Batch<WantedRequests, RequestPage>((context, wanted) =>
    this.log.requests.read(serviceCallOf(context), wanted),
  );

  private readonly strikes = new Batch<null, StrikingClient[]>(async (context) => [
    await this.log.requests.strikingClients(serviceCallOf(context)),
  ]);

  constructor(
    private readonly audit: ProjectAudit,
    private readonly log: { requests: ProjectRequests; isOn: boolean },
  ) {}

  @FieldResolver(() => RequestConnectionType, {
    description:
      'The last 10,000 requests of its keys within 48 hours, newest first. Of each second the log keeps 50, those with an error first. A request appears about two seconds after its answer. Needs the scope `keys`.',
  })
  async requests(
    @Ctx() context: Context,
    @Arg('first', () => Int, {
      nullable: true,
      defaultValue: ACTIVITY_PAGE_SIZE,
      description: `How many requests: ${FIRST_RULE}.`,
    })
    first: number | null,
    @Arg('after', () => String, {
      nullable: true,
      description: 'Only requests older than this `endCursor` of a page with the same filter.',
    })
    after?: string | null,
    @Arg('filter', () => RequestFilterInput, {
      nullable: true,
      description:
        'Only requests with these values, for example `{outcome: FAILED}`. An operation may filter five lists.',
    })
    given?: RequestFilterInput | null,
  ): Promise<RequestConnectionType> {
    const filter: RequestFilter = valuesOf(given);
    const cursors = cursorsOf('requests', filter);
    const wanted = { ...requestedPage(cursors, { first, after }), filter };
    const page = await this.requestLists.join(context, wanted);
    return { ...connection(cursors, page, wanted), leftOut: page.leftOut, isOn: this.log.isOn };
  }

  @Entries(MAX_STRIKING_CLIENTS)
  @FieldResolver(() => [StrikingClientType], {
    description: `The clients that made strikes in the last 48 hours: at most ${MAX_STRIKING_CLIENTS}, most strikes first. Empty without a request log. Needs the scope \`keys\`.`,
  })
  strikingClients(@Ctx() context: Context): Promise<StrikingClient[]> {
    return this.strikes.join(context, null);
  }

  @FieldResolver(() => AuditEventConnectionType, {
    description:
      'The acts that changed the project, its keys and its domains, newest first, since the project exists. Needs the scope `keys`.',
  })
  async auditEvents(
    @Ctx() context: Context,
    @Arg('first', () => Int, {
      nullable: true,
      defaultValue: ACTIVITY_PAGE_SIZE,
      description: `How many events: ${FIRST_RULE}.`,
    })
    first: number | null,
    @Arg('after', () => String, {
      nullable: true,
      description: 'Only events older than this `endCursor` of a page with the same filter.',
    })
    after?: string | null,
    @Arg('filter', () => AuditEventFilterInput, {
      nullable: true,
      description: `Only events with these values, for example \`{kind: "domain"}\`, among the ${FILTERED_EVENTS.toLocaleString('en')} before \`after\`.`,
    })
    given?: AuditEventFilterInput | null,
  ): Promise<AuditEventConnectionType> {
    const filter = auditFilter(given);
    const cursors = cursorsOf('audit', filter);
    const wanted = { ...requestedPage(cursors, { first, after }), filter };
    const page = await this.audits.join(context, wanted);
    return connection(cursors, page, wanted);
  }
}
