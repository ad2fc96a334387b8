import axe from 'axe-core';
import type { Page } from 'playwright-core';

/** Returns the violations of any impact that axe finds on the page as it is, one line each; `rules` = only of these. */
export async function violationsOn(page: Page, rules?: readonly string[]): Promise<string[]> {
  // Evaluated through the debugger, because the page's policy does not apply to the debugger.
  if (!(await page.evaluate("'axe' in window"))) await page.evaluate(axe.source);
  // The other results are not read, and to describe each element of theirs takes most of the time.
  const options = JSON.stringify({ resultTypes: ['violations'], ...(rules && { runOnly: rules }) });
  const { violations } = (await page.evaluate(`axe.run(document, ${options})`)) as axe.AxeResults;
  return violations.flatMap(({ id, impact, help, nodes }) =>
    nodes.map(({ target }) => `${impact} ${id} (${help}): ${target.join(' ')}`),
  );
}
