import { afterAll, beforeAll, expect, test } from '@jest/globals';
import {
  type DomainRig,
  ownerOf,
  PLATFORM_HOST,
  publishedTenant,
  startDomainRig,
} from '../support/domains/domain-rig.js';
import { eventually } from '../support/eventually.js';
import { Collector } from '../support/tracing/collector.js';

let collector: Collector;
let rig: DomainRig;
beforeAll(async () => {
  collector = await Collector.start();
  rig = await startDomainRig('sqlite', { env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url } });
});
afterAll(async () => {
  await rig?.stop();
  await collector.stop();
});

test('Tracing-15: a DNS check belongs to the request that asked, and an order of a certificate is a trace of its own', async () => {
  const owner = ownerOf(rig, await publishedTenant(rig));
  const { id } = await owner.add('traced.customer.test');
  rig.dns.set('traced.customer.test', 'CNAME', PLATFORM_HOST);
  await owner.verify(id);
  await owner.become(id, 'ACTIVE', 30_000);
  const [order] = await eventually('the order', () => {
    const found = collector.named('ACME order');
    return found.length > 0 && found;
  });
  expect(order?.parentSpanId ?? '').toBe('');
  expect(order?.attributes).toEqual({ 'petstore.domain': 'traced.customer.test', 'petstore.order': 'new' });
  const names = collector.below(order as NonNullable<typeof order>).map(({ name }) => name);
  expect(names).toContain('INSERT acme_orders');
  const checks = collector.named('DNS check');
  expect(checks[0]?.attributes).toEqual({ 'petstore.domain': 'traced.customer.test' });
  const asked = collector.named('mutation').flatMap((mutation) => collector.below(mutation));
  expect(asked.map(({ name }) => name)).toContain('DNS check');
});
