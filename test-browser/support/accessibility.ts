import axe from 'axe-core';
import type { Page } from 'playwright-core';

/** The serious and critical violations that axe finds on the page as it is, each in a line. */
export async function seriousViolations(page: Page): Promise<string[]> {
  // By the debugger, which the page's policy does not bind.
  await page.evaluate(axe.source);
  const { violations } = (await page.evaluate('axe.run(document)')) as axe.AxeResults;
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, help, nodes }) => nodes.map(({ target }) => `${id} (${help}): ${target.join(' ')}`));
}
