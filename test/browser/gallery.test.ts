import type { Browser, Page, Request } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { barriersOf } from './accessible.ts';
import { launchBrowser } from './browser.ts';
import { startGallery, type Gallery, type Look } from './gallery.ts';

interface TraceEvent {
  name: string;
  /** Time of the thread itself, in microseconds, without what else the machine does. */
  tdur?: number;
  tid: number;
  args?: { name?: string };
}

/** The longest task of the page's main thread during the work, in milliseconds, by the browser's trace. */
async function busiestTask(browser: Browser, page: Page, work: () => Promise<void>): Promise<number> {
  await browser.startTracing(page, {
    categories: ['toplevel', 'devtools.timeline', 'disabled-by-default-devtools.timeline', '__metadata'],
  });
  await work();
  const trace = JSON.parse((await browser.stopTracing()).toString()) as { traceEvents: TraceEvent[] };
  const mains = new Set(
    trace.traceEvents
      .filter(({ name, args }) => name === 'thread_name' && args?.name === 'CrRendererMain')
      .map(({ tid }) => tid),
  );
  const tasks = trace.traceEvents.filter(
    ({ name, tid }) => mains.has(tid) && (name === 'RunTask' || name === 'ThreadControllerImpl::RunTask'),
  );
  return Math.max(0, ...tasks.map(({ tdur = 0 }) => tdur)) / 1_000;
}

describe('test/browser/gallery', () => {
  let gallery: Gallery;
  let browser: Browser;
  let page: Page;
  const faults: string[] = [];
  beforeAll(async () => {
    gallery = await startGallery();
    browser = await launchBrowser();
    page = await (await browser.newContext({ reducedMotion: 'reduce' })).newPage();
    page.setDefaultTimeout(10_000);
    page.on('pageerror', (error) => faults.push(error.message));
  }, 180_000);
  afterAll(async () => {
    await browser?.close();
    await gallery?.close();
  });

  // Each state is shown in one of the two, which differ in everything.
  const looks: Look[] = [
    { theme: 'light', language: 'en', direction: 'ltr' },
    { theme: 'dark', language: 'de', direction: 'rtl', density: '0.75' },
  ];

  it('shows every state of every component, each without a barrier', { timeout: 120_000 }, async () => {
    const names = await gallery.names(page);
    expect(names.length).toBeGreaterThan(50);
    const barriers: unknown[] = [];
    for (const [index, name] of names.entries()) {
      await gallery.show(page, name, looks[index % looks.length]);
      const found = await barriersOf(page);
      if (found.length > 0) barriers.push({ name, found });
    }
    expect(barriers).toEqual([]);
    expect(faults).toEqual([]);
  });

  it(
    'scrolls and searches 5,000 fields without keeping the page busy for 50 ms',
    { timeout: 60_000 },
    async () => {
      await gallery.show(page, 'InstallIntegration / 5,000 fields', looks[0]);
      const list = page.locator('.svc-list-window');
      await list.scrollIntoViewIfNeeded();
      await list.hover();
      const seen = new Set<string>();
      const scroll = async (): Promise<void> => {
        for (let turn = 0; turn < 40; turn += 1) {
          await page.mouse.wheel(0, turn < 20 ? 8_000 : -4_000);
          await page.waitForTimeout(20);
          seen.add(await list.locator('li').first().innerText());
        }
      };
      // A processor that others use, too, does the same work in more time: the best of three counts.
      let busiest = Infinity;
      for (let round = 0; round < 3 && busiest >= 50; round += 1)
        busiest = Math.min(busiest, await busiestTask(browser, page, scroll));
      expect(seen.size).toBeGreaterThan(20);
      expect(busiest).toBeGreaterThan(0);
      expect(busiest).toBeLessThan(50);
      expect(await list.locator('li').count()).toBeLessThan(30);
      await page.getByRole('searchbox').fill('4999');
      await list.getByText('Custom field 4999').waitFor();
    },
  );

  it('executes nothing of 500 names, labels and values that mean harm', { timeout: 60_000 }, async () => {
    const asked: string[] = [];
    await page.setViewportSize({ width: 390, height: 700 });
    const listen = (request: Request): void => void asked.push(request.url());
    await gallery.show(page, 'InstallIntegration / names that mean harm', looks[0]);
    page.on('request', listen);
    const list = page.locator('.svc-list-window');
    for (let turn = 0; turn < 70; turn += 1) {
      await list.evaluate((element) => element.scrollBy(0, 300));
      await page.waitForTimeout(5);
    }
    // None of them is wider than the page.
    const body = page.locator('.svc-page');
    expect(await body.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBe(0);
    await page.getByRole('combobox', { name: 'Nickname' }).fill('script');
    await page.getByRole('option').nth(10).waitFor();
    for (const step of await page.locator('.svc-nav-step').all()) await step.click();
    page.off('request', listen);
    expect(await page.evaluate('window.executed')).toBeUndefined();
    expect(await page.locator('.svc :is(script, iframe, img, b)').count()).toBe(0);
    expect(asked).toEqual([]);
    expect(faults).toEqual([]);
  });

  it('warns of nothing in the page of somebody who develops', { timeout: 60_000 }, async () => {
    const developed = await startGallery('development');
    const told: string[] = [];
    const other = await (await browser.newContext()).newPage();
    other.on(
      'console',
      (message) => ['warning', 'error'].includes(message.type()) && told.push(message.text()),
    );
    await developed.show(other, 'InstallIntegration / names that mean harm');
    const nickname = other.getByRole('combobox', { name: 'Nickname' });
    await nickname.fill('script');
    await other.getByRole('option').nth(1).click();
    await other.getByRole('button', { name: 'Clear Nickname' }).click();
    for (const step of await other.locator('.svc-nav-step').all()) await step.click();
    await developed.close();
    expect(told).toEqual([]);
  });

  it('finds a state by words, and keeps what is shown in its address', async () => {
    await gallery.names(page);
    await page.getByRole('searchbox').fill('health perm');
    await page.getByRole('button', { name: 'ConnectionHealth / permissions missing' }).click();
    await page.getByText('crm.objects.deals.read').waitFor();
    await page.getByLabel('language').selectOption('de');
    await page.getByText('Neu verbinden').waitFor();
    await page.reload();
    await page.getByText('Neu verbinden').waitFor();
    expect(new URL(page.url()).searchParams.get('language')).toBe('de');
  });
});
