import { type Command, InvalidArgumentError, Option } from 'commander';
import type { Gateway } from '../app/gateway.js';
import type { Services } from '../app/services.js';
import { hasOpenLog } from '../ground/kernel/caller.js';
import type { ChangeLogRow } from '../ground/records/change-log.entity.js';
import { MAX_QUOTA, OPEN_STREAMS, PLAN_NAMES, PLANS, type Plan } from '../tenants/projects/plans.js';
import type { Project } from '../tenants/projects/project.entity.js';
import { grouped, isoTime, type Output, table } from './output.js';
import { commandLineActor, withServices } from './session.js';

interface QuotaOptions {
  plan?: Plan;
  perMinute?: number;
  perDay?: number;
}

/** The change logs of more projects would need more parameters than a statement may have. */
const LOGS_AT_ONCE = 1_000;

interface SetOptions extends QuotaOptions {
  changes?: 'on' | 'off';
  streams?: number;
}

export function projectsCommands(program: Command, gateway: Gateway, output: Output): void {
  const projects = program.command('projects').description('Projects: the tenants of the gateway.');
  const changeOne = async (said: string, work: (services: Services) => Promise<Project>) => {
    const [project] = await withServices(gateway, async (services) =>
      describe(services, [await work(services)]),
    );
    if (project) output.result(project, `${said}\n\n${table([toRow(project)])}`);
  };

  withQuotas(projects.command('create <slug>'))
    .description('Create a project. The slug becomes part of its host name.')
    .option('--name <name>', 'a name for people (default: the slug)')
    .addHelpText(
      'after',
      `
Examples:
  $ petstore projects create shop
  $ petstore projects create shop --name "${gateway.nouns[0].description.type} shop" --plan pro
  $ petstore projects create big --plan enterprise --per-minute 5000 --per-day 1000000`,
    )
    .action(async (slug: string, options: QuotaOptions & { name?: string }) => {
      const { name = null, plan = 'FREE', perMinute = null, perDay = null } = options;
      await changeOne(`Project ${slug} is created. Next: petstore keys create ${slug}`, ({ projects }) =>
        projects.create(commandLineActor(), { slug, name, plan, perMinute, perDay }),
      );
    });

  projects
    .command('list')
    .description('Show every project.')
    .addHelpText('after', '\nExample:\n  $ petstore projects list --json')
    .action(async () => {
      const all = await withServices(gateway, async (services) =>
        describe(services, await services.projects.list()),
      );
      const none = 'No project yet. Make one: petstore projects create <slug>';
      output.result({ projects: all }, table(all.map(toRow), none));
    });

  withQuotas(projects.command('set <slug>'))
    .description('Change the plan, the quotas or the change log of a project. Takes effect at once.')
    .addOption(
      new Option('--changes <switch>', 'the change log, which opens 15 s later').choices(['on', 'off']),
    )
    .option('--streams <n>', 'open streams, only for an ENTERPRISE project', toQuota)
    .addHelpText(
      'after',
      `
Examples:
  $ petstore projects set shop --plan business
  $ petstore projects set big --per-minute 10000
  $ petstore projects set shop --changes on`,
    )
    .action(async (slug: string, options: SetOptions, command: Command) => {
      if (Object.keys(options).length === 0) {
        command.error('error: nothing to set: add --plan, --per-minute, --per-day, --changes or --streams');
      }
      const { changes, streams: mostStreams, ...quotas } = options;
      const isLogged = changes && changes === 'on';
      await changeOne(`Project ${slug} is changed.`, ({ projects }) =>
        projects.change(commandLineActor(), slug, { ...quotas, isLogged, mostStreams }),
      );
    });

  projects
    .command('publish <slug>')
    .description('Record a successful deploy at this time.')
    .addHelpText('after', '\nExample:\n  $ petstore projects publish shop')
    .action(async (slug: string) => {
      await changeOne(`Project ${slug} is published.`, async ({ projects }) => {
        const { id } = await projects.getBySlug(slug);
        return projects.publish(commandLineActor(), id);
      });
    });
}

function withQuotas(command: Command): Command {
  return command
    .option('--plan <plan>', `${PLAN_NAMES.join(', ')}, in any case (a new project: FREE)`, toPlan)
    .option('--per-minute <n>', 'requests per minute, only for an ENTERPRISE project', toQuota)
    .option('--per-day <n>', 'requests per day, only for an ENTERPRISE project', toQuota);
}

function toPlan(text: string): Plan {
  const plan = PLAN_NAMES.find((name) => name === text.toUpperCase());
  if (!plan) throw new InvalidArgumentError(`It must be one of ${PLAN_NAMES.join(', ')}.`);
  return plan;
}

function toQuota(text: string): number {
  const quota = /^\d{1,10}$/.test(text) ? Number(text) : 0;
  if (quota >= 1 && quota <= MAX_QUOTA) return quota;
  throw new InvalidArgumentError(`It must be a whole number from 1 to ${MAX_QUOTA}.`);
}

type Described = ReturnType<typeof toJson>;

/** The projects with their change logs, as `--json` prints them. */
async function describe({ changes }: Services, projects: readonly Project[]): Promise<Described[]> {
  const logs = new Map<bigint, ChangeLogRow>();
  for (let at = 0; at < projects.length; at += LOGS_AT_ONCE) {
    const ids = projects.slice(at, at + LOGS_AT_ONCE).map(({ id }) => id);
    for (const log of await changes.log.counters(ids)) logs.set(log.projectId, log);
  }
  return projects.map((project) => toJson(project, logs.get(project.id)));
}

function toJson(project: Project, log?: ChangeLogRow) {
  const { id, slug, name, plan, publishedAtMs, createdAtMs } = project;
  const { perMinute, perDay } = PLANS[plan] ?? project;
  const opensAtMs = log?.opensAtMs ?? null;
  const isOpen = hasOpenLog({ changesSinceMs: opensAtMs }, Date.now());
  return {
    ...{ id, slug, name, plan, perMinute, perDay },
    streams: log?.mostStreams ?? OPEN_STREAMS[plan],
    changes: opensAtMs === null ? 'off' : isOpen ? 'on' : 'opening',
    changesOpenAt: isoTime(opensAtMs),
    publishedAt: isoTime(publishedAtMs),
    createdAt: isoTime(createdAtMs),
  };
}

function toRow({ id, slug, name, plan, perMinute, perDay, ...project }: Described) {
  const { changes, changesOpenAt, streams, publishedAt } = project;
  return {
    slug,
    name,
    plan,
    'per minute': perMinute && grouped(perMinute),
    'per day': perDay && grouped(perDay),
    changes: changes === 'opening' ? `opens at ${changesOpenAt}` : changes,
    streams: grouped(streams),
    published: publishedAt ?? 'never',
    id: String(id),
  };
}
