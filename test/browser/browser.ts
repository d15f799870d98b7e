import { existsSync } from 'node:fs';
import chromium from '@sparticuz/chromium';
import { chromium as driver, type Browser } from 'playwright-core';

const installed = [
  '/usr/bin/google-chrome',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  'C:/Program Files/Google/Chrome/Application/chrome.exe',
];

/** Arguments of the packaged browser that are left out: with them pages are not isolated from one another, which the tests need. */
const left = new Set([
  '--single-process',
  '--headless=shell',
  '--disable-web-security',
  '--allow-running-insecure-content',
]);

/** A real browser: the one that came with `npm ci` for Linux on x64, else one of the system. */
export async function launchBrowser(): Promise<Browser> {
  if (process.platform === 'linux' && process.arch === 'x64') {
    chromium.setGraphicsMode = false;
    const args = chromium.args.filter((arg) => !left.has(arg));
    return driver.launch({ executablePath: await chromium.executablePath(), args, headless: true });
  }
  const executablePath = process.env['CHROME_PATH'] ?? installed.find((path) => existsSync(path));
  if (executablePath === undefined)
    throw new Error('no browser was found: install Chrome or Chromium, or name one by CHROME_PATH');
  return driver.launch({ executablePath, headless: true });
}
