import { join } from 'node:path';
import type { Page, PageScreenshotOptions } from 'playwright-core';
import { violationsOn } from './accessibility.js';

/** Writes a picture into the folder that `SCREENSHOTS` names, for the reviewer of a change. Does nothing without it. */
export async function takePicture(
  page: Page,
  name: string,
  options: PageScreenshotOptions = {},
): Promise<void> {
  const folder = process.env.SCREENSHOTS;
  if (!folder) return;
  await page.screenshot({ path: join(folder, `${name}.png`), animations: 'disabled', ...options });
}

/** Takes pictures of the page in the light and in the dark theme. Returns axe's violations in either. */
export async function violationsInThemes(page: Page, name: string, options: PageScreenshotOptions = {}) {
  const violations: string[] = [];
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    await page.waitForFunction(hasTheme, colorScheme);
    await takePicture(page, `${name}-${colorScheme}`, options);
    // The dark theme has other colors, and nothing else.
    const rules = colorScheme === 'dark' ? ['color-contrast'] : undefined;
    violations.push(...(await violationsOn(page, rules)).map((found) => `${colorScheme}: ${found}`));
  }
  return violations;
}

/** Whether the page shows the theme: a script sets it, GraphiQL follows in its next render, and some colors change over time. */
function hasTheme(theme: string): boolean {
  const other = theme === 'dark' ? 'light' : 'dark';
  const areColorsChanging = document.getAnimations().some((change) => change instanceof CSSTransition);
  return (
    document.documentElement.dataset.theme === theme &&
    !document.body.classList.contains(`graphiql-${other}`) &&
    !areColorsChanging
  );
}
