import { type QueryRunner, Table } from 'typeorm';
import { int64, integer, long, NewTables, optional, primary, text } from './tables.js';

/** Domains, certificates, orders, and the numbers of changes that processes follow. */
export class Domains1780000003000 extends NewTables {
  protected readonly tables = [
    new Table({
      name: 'change_sequences',
      columns: [primary(text('name', 16)), int64('value')],
    }),
    new Table({
      name: 'domains',
      columns: [
        primary(int64('id')),
        int64('project_id'),
        text('hostname', 253),
        optional(text('attached_hostname', 253)),
        text('registrable_domain', 253),
        integer('is_apex'),
        text('ownership', 16),
        text('dns', 16),
        text('order_state', 16),
        long('dns_diagnoses'),
        long('order_diagnoses'),
        optional(int64('checked_at_ms')),
        optional(int64('next_check_at_ms')),
        int64('waiting_since_ms'),
        optional(int64('mismatch_since_ms')),
        optional(int64('verified_at_ms')),
        optional(int64('certificate_id')),
        optional(int64('certificate_ends_at_ms')),
        optional(int64('next_order_at_ms')),
        integer('failed_orders'),
        int64('lease_until_ms'),
        integer('lease_number'),
        integer('is_primary'),
        optional(text('redirect_to', 253)),
        optional(integer('redirect_status')),
        optional(int64('suspended_at_ms')),
        optional(int64('removed_at_ms')),
        int64('created_at_ms'),
        int64('change_number'),
      ],
      indices: [
        { name: 'domains_attached', columnNames: ['attached_hostname'], isUnique: true },
        { name: 'domains_hostname', columnNames: ['hostname'] },
        { name: 'domains_project', columnNames: ['project_id', 'removed_at_ms'] },
        { name: 'domains_next_check', columnNames: ['next_check_at_ms'] },
        { name: 'domains_next_order', columnNames: ['next_order_at_ms'] },
        { name: 'domains_change', columnNames: ['change_number'] },
      ],
    }),
    new Table({
      name: 'domain_events',
      columns: [
        primary(int64('id')),
        int64('domain_id'),
        int64('at_ms'),
        text('name', 64),
        long('message'),
        long('diagnoses'),
      ],
      indices: [{ name: 'domain_events_domain', columnNames: ['domain_id', 'id'] }],
    }),
    new Table({
      name: 'certificates',
      columns: [
        primary(int64('id')),
        int64('domain_id'),
        text('hostname', 253),
        long('chain_pem'),
        long('sealed_key'),
        text('issuer', 255),
        text('serial_number', 64),
        int64('not_before_ms'),
        int64('not_after_ms'),
        int64('renew_at_ms'),
        optional(text('renewal_id', 255)),
        int64('created_at_ms'),
      ],
      indices: [{ name: 'certificates_domain', columnNames: ['domain_id'] }],
    }),
    new Table({
      name: 'acme_accounts',
      columns: [
        primary(text('directory_url', 255)),
        text('account_url', 512),
        long('sealed_key'),
        int64('created_at_ms'),
      ],
    }),
    new Table({
      name: 'acme_orders',
      columns: [
        primary(int64('id')),
        int64('domain_id'),
        int64('project_id'),
        text('hostname', 253),
        text('registrable_domain', 253),
        integer('is_renewal'),
        int64('started_at_ms'),
        optional(text('outcome', 64)),
        optional(text('url', 512)),
        optional(long('sealed_key')),
        optional(text('key_authorization', 255)),
        optional(int64('challenge_ends_at_ms')),
      ],
      indices: [
        { name: 'acme_orders_registrable', columnNames: ['registrable_domain', 'started_at_ms'] },
        { name: 'acme_orders_hostname', columnNames: ['hostname', 'started_at_ms'] },
        { name: 'acme_orders_project', columnNames: ['project_id', 'started_at_ms'] },
        { name: 'acme_orders_start', columnNames: ['started_at_ms'] },
        { name: 'acme_orders_challenge', columnNames: ['challenge_ends_at_ms'] },
      ],
    }),
  ];

  override get declared() {
    return this.tables;
  }

  override async up(runner: QueryRunner): Promise<void> {
    await super.up(runner);
    // A process locks `orders` while it counts orders.
    await runner.query("INSERT INTO change_sequences (name, value) VALUES ('hosts', 0), ('orders', 0)");
  }
}
