import { afterAll, afterEach, beforeAll } from '@jest/globals';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { startBrowser } from '../../test/support/browser.js';

interface VisitOptions {
  width?: number;
  height?: number;
  colorScheme?: 'light' | 'dark';
  /** HTTP statuses that the test provokes: the browser logs each as an error. */
  provokes?: readonly number[];
}

export interface Visitor {
  page: Page;
  context: BrowserContext;
  /** Console errors, uncaught errors, policy violations and requests to other hosts. A good page has none. */
  complaints: string[];
  /** Opens a page of the dashboard; `path` is relative to `/dashboard`. */
  open(path: string): Promise<void>;
  signIn(token: string): Promise<void>;
  leave(): Promise<void>;
}

/**
 * The `visit()` of a test file: `start` starts its gateway before the first test, and all of it is stopped after the last.
 * The visitor of a test leaves at its end. `url`: another gateway.
 */
export function visits(start: () => Promise<{ url: string; stop(): Promise<void> }>) {
  let gateway: Awaited<ReturnType<typeof start>>;
  let browser: Browser;
  const visitors: Visitor[] = [];
  beforeAll(async () => {
    gateway = await start();
    browser = await startBrowser();
  });
  afterEach(async () => {
    for (const visitor of visitors.splice(0)) await visitor.leave();
  });
  afterAll(async () => {
    await browser?.close();
    await gateway?.stop();
  });
  return async ({
    url = gateway.url,
    ...options
  }: VisitOptions & { url?: string } = {}): Promise<Visitor> => {
    const visitor = await visit(browser, url, options);
    visitors.push(visitor);
    return visitor;
  };
}

/** Opens the dashboard in a new browser profile. */
export async function visit(browser: Browser, url: string, options: VisitOptions = {}): Promise<Visitor> {
  const { width = 1280, height = 900, colorScheme = 'light', provokes = [] } = options;
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme,
    // In the middle of a transition axe measures the contrast of colours that no reader sees at rest.
    reducedMotion: 'reduce',
    locale: 'en-GB',
    timezoneId: 'UTC',
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  const page = await context.newPage();
  const complaints: string[] = [];
  const { origin } = new URL(url);
  page.on('pageerror', (error) => complaints.push(`uncaught: ${error.message}`));
  page.on('console', (message) => {
    const text = message.text();
    const isProvoked = provokes.some((status) => text.includes(`responded with a status of ${status}`));
    if (message.type() === 'error' && !isProvoked) complaints.push(`console: ${text}`);
  });
  page.on('request', (request) => {
    if (!request.url().startsWith('data:') && new URL(request.url()).origin !== origin) {
      complaints.push(`another host: ${request.url()}`);
    }
  });
  await page.addInitScript(() => {
    document.addEventListener('securitypolicyviolation', (event) => {
      console.error(`policy: ${event.violatedDirective} ${event.blockedURI}`);
    });
  });
  const open = async (path: string) => void (await page.goto(`${url}/dashboard${path}`));
  return {
    page,
    context,
    complaints,
    open,
    async signIn(token) {
      await open('/');
      await page.getByLabel('API key').fill(token);
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByRole('heading', { name: 'Overview' }).waitFor();
    },
    leave: () => context.close(),
  };
}
