import { createReadStream } from 'node:fs';
import { text } from 'node:stream/consumers';
import type { Command } from 'commander';
import type { Gateway } from '../app/gateway.js';
import type { CustomDomains } from '../domains/custom-domains.js';
import { isBlocking } from '../domains/diagnosis/diagnosis.js';
import type { Domain } from '../domains/store/domain.entity.js';
import { isServing, statusOf } from '../domains/store/domain-status.js';
import { AppError } from '../ground/kernel/errors.js';
import { EXIT, isoTime, type Output, table } from './output.js';
import { withDomains } from './session.js';

export function domainsCommands(program: Command, gateway: Gateway, output: Output): void {
  const domains = program.command('domains').description('Custom domains of a project.');

  domains
    .command('list <slug>')
    .description("Show a project's domains and their status.")
    .addHelpText('after', '\nExample:\n  $ petstore domains list shop')
    .action(async (slug: string) => {
      const all = await withDomains(gateway, slug, async (domains, call) =>
        (await domains.ofProject.list(call)).map((domain) => toJson(domain, domains)),
      );
      const none = `No domain yet. Add one: petstore domains add ${slug} <hostname>`;
      output.result({ domains: all }, table(all.map(toRow), none));
    });

  domains
    .command('add <slug> <hostname>')
    .description('Attach a host name, and show the DNS records to create.')
    .addHelpText('after', '\nExample:\n  $ petstore domains add shop shop.example.com')
    .action(async (slug: string, hostname: string) => {
      const domain = await withDomains(gateway, slug, async (domains, call) =>
        toJson(await domains.ofProject.add(call, hostname), domains),
      );
      const next = `Create these DNS records, then: petstore domains verify ${slug} ${domain.hostname}`;
      output.result(domain, `${next}\n\n${table(domain.instructions.map(recordRow))}`);
    });

  domains
    .command('verify <slug> <hostname>')
    .description('Check DNS now and show the problems. Exit code 1 if there is a problem.')
    .option('--anew', 'also order a new certificate now, without the back-off')
    .addHelpText('after', '\nExample:\n  $ petstore domains verify shop shop.example.com')
    .action(async (slug: string, hostname: string, { anew }: { anew?: boolean }) => {
      const domain = await withDomains(gateway, slug, async (domains, call) => {
        const { id } = await domains.ofProject.getByHostname(call, hostname);
        return toJson(await domains.ofProject.verify(call, id, { isOrdering: anew === true }), domains);
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
      // Imported here: the help of all commands needs none of it.
      const { MAX_FILE_BYTES, readDomainConfig, exampleOf } = await import('../domains/domain-config.js');
      const wanted = readDomainConfig(await textOf(file, MAX_FILE_BYTES));
      const { config, effects, isApplied } = await withDomains(gateway, slug, ({ ofProject }, call) =>
        ofProject.configure(call, { wanted, isDryRun: dryRun === true }),
      );
      const said = isApplied ? 'The configuration is active.' : 'Nothing has changed. This would happen:';
      const text = effects.length === 0 ? said : `${said}\n\n${effects.map(exampleOf).join('\n')}`;
      output.result({ domains: config, effects, applied: isApplied }, text);
    });

  domains
    .command('remove <slug> <hostname>')
    .description('Remove a domain. Returns when no process serves it any more.')
    .addHelpText('after', '\nExample:\n  $ petstore domains remove shop shop.example.com')
    .action(async (slug: string, hostname: string) => {
      const { id, stoppedAtMs } = await withDomains(gateway, slug, async ({ ofProject }, call) =>
        ofProject.remove(call, (await ofProject.getByHostname(call, hostname)).id),
      );
      const stoppedAt = isoTime(stoppedAtMs);
      output.result(
        { id, hostname, stoppedAt },
        `${hostname} is removed. No process has served it since ${stoppedAt}.`,
      );
    });
}

/** The text of the file, at most one byte more than allowed: the file can be an endless device. */
function textOf(file: string, maxBytes: number): Promise<string> {
  return text(createReadStream(file, { end: maxBytes })).catch((error: Error) => {
    throw new AppError('not_found', `${file} could not be read: ${error.message}`);
  });
}

function toJson(domain: Domain, { ofProject, endsTls }: CustomDomains) {
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
    instructions: ofProject.instructions(domain),
    diagnoses: ofProject.diagnoses(domain, atMs),
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
