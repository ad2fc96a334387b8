import axe from 'axe-core';
import type { Page } from 'playwright-core';

/** Returns the violations of any impact that axe finds on the page as it is, one line each. */
export async function violationsOn(page: Page): Promise<string[]> {
  // Evaluated through the debugger, because the page's policy does not apply to the debugger.
  await page.evaluate(axe.source);
  const { violations } = (await page.evaluate('axe.run(document)')) as axe.AxeResults;
  return violations.flatMap(({ id, impact, help, nodes }) =>
    nodes.map(({ target }) => `${impact} ${id} (${help}): ${target.join(' ')}`),
  );
}
