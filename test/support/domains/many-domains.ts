import { Domain } from '../../../src/domains/store/domain.entity.js';
import { nextChange } from '../../../src/ground/database/change-sequence.entity.js';
import type { TestApp } from '../start-app.js';
import { domainRow } from './served-domain.js';

const CHUNK = 500;

/** Stores so many domains of one new project, all in one change. */
export async function insertDomains(app: TestApp, count: number): Promise<void> {
  const { projectId } = await app.tenant();
  await app.db.transaction(async (manager) => {
    const changeNumber = await nextChange(manager);
    for (let from = 0; from < count; from += CHUNK) {
      const rows = Array.from({ length: Math.min(CHUNK, count - from) }, (_, index) => ({
        ...domainRow(projectId, `shop-${from + index}.customer-${from + index}.example.com`, app.clock.now),
        certificateId: BigInt(from + index + 1),
        certificateEndsAtMs: app.clock.now,
        changeNumber,
      }));
      await manager.insert(Domain, rows);
    }
  });
}
