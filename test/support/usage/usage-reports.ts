import type { Services } from '../../../src/app/services.js';
import type { UsageWindow } from '../../../src/tenants/usage/buckets.js';
import type { LabelledReport, UsageDimension } from '../../../src/tenants/usage/project-usage.js';
import type { UsagePoint } from '../../../src/tenants/usage/usage-report.js';
import { callAs } from '../call-as.js';

const PARTS = new Set(['points', 'series', 'total', 'latency']);

/** The whole report of a project, as a key with every scope reads it. */
export async function reportOf(
  { projectUsage }: Pick<Services, 'projectUsage'>,
  projectId: bigint,
  window: UsageWindow,
  by: UsageDimension = 'DOOR',
  dashboards = true,
): Promise<LabelledReport> {
  const call = callAs({ projectId, keyId: 0n });
  const [report] = await projectUsage.read(call, [{ window, by, dashboards, parts: PARTS }]);
  return report as LabelledReport;
}

export async function pointsOf(
  services: Pick<Services, 'projectUsage'>,
  projectId: bigint,
  window: UsageWindow,
): Promise<UsagePoint[]> {
  return (await reportOf(services, projectId, window)).points;
}
