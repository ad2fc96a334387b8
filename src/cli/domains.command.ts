import { createReadStream } from 'node:fs';
import { text } from 'node:stream/consumers';
import type { Command } from 'commander';
import type { CustomDomains } from '../app/custom-domains.js';
import type { Services } from '../app/services.js';
import { isBlocking } from '../domains/diagnosis/diagnosis.js';
import { type ConfiguredDomains, type DomainService, diagnosesOf } from '../domains/domain.service.js';
import { exampleOf, MAX_FILE_BYTES, readDomainConfig } from '../domains/domain-config.js';
import type { Domain } from '../domains/store/domain.entity.js';
import { isServing, statusOf } from '../domains/store/domain-status.js';
import { AppError } from '../ground/kernel/errors.js';
import { EXIT, isoTime, type Output, table } from './output.js';
import { commandLineActor, withDomains } from './session.js';

export function domainsCommands(program: Command, output: Output): void {
  const domains = program.command('domains').description('Custom domains of a project.');

  domains
    .command('list <slug>')
    .description("Show a project's domains and their status.")
    .addHelpText('after', '\nExample:\n  $ petstore domains list shop')
    .action(async (slug: string) => {
      const all = await withDomains(async (parts, { projects }) => {
        const { id } = await projects.getBySlug(slug);
        return (await parts.store.list(id)).map((domain) => toJson(domain, parts));
      });
      const none = `No domain yet. petstore domains add ${slug} <hostname>`;
      output.result({ domains: all }, all.length > 0 ? table(all.map(toRow)) : none);
    });

  domains
    .command('add <slug> <hostname>')
    .description('Attach a host name, and show the DNS records to create.')
    .addHelpText('after', '\nExample:\n  $ petstore domains add shop shop.example.com')
    .action(async (slug: string, hostname: string) => {
      const domain = await withDomains(async (parts, { projects }) => {
        const { id } = await projects.getBySlug(slug);
        return toJson(await parts.attachment.add(commandLineActor(), id, hostname), parts);
      });
      const next = `Create these DNS records, then: petstore domains verify ${slug} ${domain.hostname}`;
      output.result(domain, `${next}\n\n${table(domain.instructions.map(recordRow))}`);
    });

  domains
    .command('verify <slug> <hostname>')
    .description('Check DNS now and show the problems. Exit code 1 if there is a problem.')
    .option('--anew', 'also order a new certificate now, without the back-off')
    .addHelpText('after', '\nExample:\n  $ petstore domains verify shop shop.example.com')
    .action(async (slug: string, hostname: string, { anew }: { anew?: boolean }) => {
      const domain = await withDomains(async (parts, services) => {
        const { projectId, id } = await find(parts.domains, services, { slug, hostname });
        const verify = anew ? 'reverify' : 'verify';
        return toJson(await parts.check[verify](projectId, id), parts);
      });
      output.result(domain, report(domain));
      if (domain.diagnoses.some(isBlocking)) output.exitCode = EXIT.refused;
    });

  domains
    .command('apply <slug> <file>')
    .description('Set the primary domain and the redirects from a JSON file, all or nothing.')
    .option('--dry-run', 'only show what would happen')
    .addHelpText(
      'after',
      `
Examples:
  $ petstore domains apply shop domains.json --dry-run
  $ cat domains.json
  {"domains": {"primary": "shop.example.com",
               "redirects": [{"from": "example.com", "to": "shop.example.com", "status": 301}]}}`,
    )
    .action(async (slug: string, file: string, { dryRun }: { dryRun?: boolean }) => {
      const wanted = readDomainConfig(await textOf(file));
      const configured = await withDomains(async ({ domains }, { projects }) => {
        const { id } = await projects.getBySlug(slug);
        return domains.configure(commandLineActor(), id, { wanted, isDryRun: dryRun === true });
      });
      output.result(
        { domains: configured.config, effects: configured.effects, applied: configured.isApplied },
        configurationText(configured),
      );
    });

  domains
    .command('remove <slug> <hostname>')
    .description('Remove a domain. Returns when no process serves it any more.')
    .addHelpText('after', '\nExample:\n  $ petstore domains remove shop shop.example.com')
    .action(async (slug: string, hostname: string) => {
      const { id, stoppedAt } = await withDomains(async ({ domains, removal }, services) => {
        const { projectId, id } = await find(domains, services, { slug, hostname });
        const { stoppedAtMs } = await removal.remove(commandLineActor(), projectId, id);
        return { id, stoppedAt: isoTime(stoppedAtMs) };
      });
      output.result(
        { id, hostname, stoppedAt },
        `${hostname} is removed. No process has served it since ${stoppedAt}.`,
      );
    });
}

async function find(
  domains: DomainService,
  { projects }: Services,
  { slug, hostname }: { slug: string; hostname: string },
): Promise<Domain> {
  const { id } = await projects.getBySlug(slug);
  return domains.getByHostname(id, hostname);
}

/** The text of the file, at most one byte more than allowed: the file can be an endless device. */
function textOf(file: string): Promise<string> {
  return text(createReadStream(file, { end: MAX_FILE_BYTES })).catch((error: Error) => {
    throw new AppError('not_found', `${file} could not be read: ${error.message}`);
  });
}

function toJson(domain: Domain, { domains, endsTls }: Pick<CustomDomains, 'domains' | 'endsTls'>) {
  const atMs = Date.now();
  return {
    id: domain.id,
    hostname: domain.hostname,
    status: statusOf(domain, atMs),
    serving: isServing(domain, { atMs, endsTls }),
    primary: domain.isPrimary,
    redirectTo: domain.redirectTo,
    redirectStatus: domain.redirectStatus,
    certificateEndsAt: isoTime(domain.certificateEndsAtMs),
    instructions: domains.instructions(domain),
    diagnoses: diagnosesOf(domain, atMs),
  };
}

type DomainJson = ReturnType<typeof toJson>;

function toRow({ hostname, status, primary, redirectTo, certificateEndsAt, diagnoses }: DomainJson) {
  return {
    hostname,
    status,
    does: redirectTo === null ? (primary ? 'serves (primary)' : 'serves') : `redirects to ${redirectTo}`,
    'certificate until': certificateEndsAt,
    problem: diagnoses.find(isBlocking)?.code ?? null,
  };
}

function recordRow({ type, name, value, ttlSeconds }: DomainJson['instructions'][number]) {
  return { type, name, value, ttl: ttlSeconds };
}

function report({ hostname, status, diagnoses, instructions }: DomainJson): string {
  const found = diagnoses.flatMap(({ code, severity, cause, remedy, evidence }) => [
    '',
    `${severity} ${code}: ${cause}`,
    `  → ${remedy}`,
    ...evidence.map(({ server, question, answer }) => `  ${server} on ${question}: ${answer}`),
  ]);
  const records = instructions.length > 0 ? ['', table(instructions.map(recordRow))] : [];
  return [`${hostname}: ${status}`, ...found, ...records].join('\n');
}

function configurationText({ effects, isApplied }: ConfiguredDomains): string {
  const said = isApplied ? 'The configuration is active.' : 'Nothing has changed. This would happen:';
  return effects.length === 0 ? said : `${said}\n\n${effects.map(exampleOf).join('\n')}`;
}
