import { expect, test } from '@jest/globals';
import { ActiveProjects, usablePart } from '../../src/request/overload/priorities.js';
import { PLAN_NAMES } from '../../src/tenants/projects/plans.js';

test('Overload-30: unknown keys are refused before FREE before PRO before BUSINESS before ENTERPRISE', () => {
  for (const isGraphQL of [false, true]) {
    const parts = [null, ...PLAN_NAMES].map((plan) => usablePart(plan, isGraphQL, false));
    expect(PLAN_NAMES).toEqual(['FREE', 'PRO', 'BUSINESS', 'ENTERPRISE']);
    expect(parts).toEqual(parts.toSorted((a, b) => a - b));
    expect(new Set(parts).size).toBe(5);
  }
});

test('Overload-31: any project within its fair share comes before all that exceed theirs', () => {
  const within = PLAN_NAMES.map((plan) => usablePart(plan, false, true));
  const beyond = PLAN_NAMES.map((plan) => usablePart(plan, true, false));
  expect(Math.min(...within)).toBeGreaterThan(Math.max(...beyond));
  expect(Math.min(...within)).toBeGreaterThanOrEqual(1);
});

test('Overload-32: GraphQL may use a twentieth of the limit more than REST', () => {
  for (const plan of [null, ...PLAN_NAMES]) {
    expect(usablePart(plan, true, false) - usablePart(plan, false, false)).toBeCloseTo(0.05);
  }
});

test('Overload-33: a plan has twice the fair share of the plan below, and a project that has left has none', () => {
  const projects = new ActiveProjects();
  const active = PLAN_NAMES.map((plan, at) => projects.of({ projectId: BigInt(at), plan }));
  const shares = active.map((project) => projects.fairShare(project, 190));
  // Weights 1, 2, 4 and 8, and 4 of a project that may come.
  expect(shares).toEqual([10, 20, 40, 80]);
  projects.endWindow();
  projects.endWindow();
  const alone = projects.of({ projectId: 9n, plan: 'FREE' });
  expect(projects.fairShare(alone, 100)).toBe(20);
});
