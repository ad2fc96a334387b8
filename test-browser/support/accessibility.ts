import axe from 'axe-core';
import type { Page } from 'playwright-core';

/** Returns the violations of any impact that axe finds on the page as it is, one line each. */
export async function violationsOn(page: Page): Promise<string[]> {
  // Evaluated through the debugger, because the page's policy does not apply to the debugger.
  if (!(await page.evaluate("'axe' in window"))) await page.evaluate(axe.source);
  // The other results are not read, and to describe each element of theirs takes most of the time.
  const run = "axe.run(document, { resultTypes: ['violations'] })";
  const { violations } = (await page.evaluate(run)) as axe.AxeResults;
  return violations.flatMap(({ id, impact, help, nodes }) =>
    nodes.map(({ target }) => `${impact} ${id} (${help}): ${target.join(' ')}`),
  );
}
