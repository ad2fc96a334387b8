import { findBrowser } from './browser.js';

/** Finds the browser once for all test files, because installing it may take longer than a test may. */
export default async function setup(): Promise<void> {
  process.env.CHROMIUM_PATH = await findBrowser();
}
