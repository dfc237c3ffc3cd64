// What the console shows while its gateway does not answer, and how it comes back.

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type ConsoleApp, isWithoutBrowser, startConsole } from './console-app.ts';

describe.skipIf(isWithoutBrowser)('while the gateway is away', () => {
  let console: ConsoleApp;
  beforeAll(async () => {
    console = await startConsole();
  });
  afterEach(() => void console.problems.splice(0));
  afterAll(() => console.close());

  test('it is said, and a page that was never open comes once the gateway is back', async () => {
    const page = await console.open('/keys');
    await page.getByText('No keys yet').waitFor();
    await page.context().setOffline(true);
    await page.getByRole('link', { name: 'Usage' }).first().click();
    await page.getByText('This page could not be loaded').waitFor();
    await page.getByText('The gateway does not respond.').waitFor();
    expect(await page.getByText('This page crashed').count()).toBe(0);
    await page.getByRole('link', { name: 'Keys' }).first().click();
    await page.getByText('No keys yet').waitFor();
    await page.getByRole('link', { name: 'Logs' }).first().click();
    await page.getByText('This page could not be loaded').waitFor();
    await page.context().setOffline(false);
    await page.getByRole('heading', { name: 'Logs', level: 1 }).waitFor();
    expect(page.url()).toBe(`${console.url}/logs`);
  });

  test('the console stays open when the script of a page is the first that does not come', async () => {
    const page = await console.open('/keys');
    await page.getByText('No keys yet').waitFor();
    let loads = 0;
    page.on('load', () => {
      loads += 1;
    });
    await page.route(/\/assets\/page-.*\.js$|\/api\//, (route) => route.abort());
    await page.getByRole('link', { name: 'Usage' }).first().click();
    await page.getByText('This page could not be loaded').waitFor();
    expect(loads).toBe(0);
    await page.unrouteAll();
    await page.getByRole('heading', { name: 'Usage', level: 1 }).waitFor();
  });

  test('the overview does not say that all is well', async () => {
    const page = await console.open('/');
    const away = page.getByRole('heading', { name: 'The gateway does not respond' });
    await page.getByText('Base URL', { exact: true }).waitFor();
    await page.context().setOffline(true);
    await page.getByRole('link', { name: 'Usage' }).first().click();
    await page.getByText('This page could not be loaded').waitFor();
    await page.getByRole('link', { name: 'Overview' }).first().click();
    await away.waitFor();
    await page.context().setOffline(false);
    await away.waitFor({ state: 'detached' });
  });

  test('what failed to load meanwhile is loaded as soon as the gateway is back', async () => {
    const page = await console.open('/usage');
    await page.route(/\/api\/(?:events|usage|latency)/, (route) => route.abort());
    await page.reload();
    await page.locator('.feed-mark').getByText('Disconnected').waitFor();
    await page.getByText('Failed to load').waitFor();
    const icons = page.locator('.shell-foot-icons');
    const before = await icons.boundingBox();
    await page.unrouteAll();
    await page.locator('.feed-mark').getByText('Live').waitFor();
    await page.getByText('Failed to load').waitFor({ state: 'detached', timeout: 3000 });
    expect(await icons.boundingBox()).toEqual(before);
  });

  test('a page whose code is gone for good is not loaded over and over', async () => {
    const page = await console.open('/keys');
    let loads = 0;
    page.on('load', () => {
      loads += 1;
    });
    await page.route(/\/assets\/.*\.(?:js|css)$/, (route, request) =>
      loads > 0 || !/page-/.test(request.url()) ? route.continue() : route.abort(),
    );
    await page.getByRole('link', { name: 'Usage' }).first().click();
    await page.getByRole('heading', { name: 'Usage', level: 1 }).waitFor();
    expect(loads).toBe(1);
    await page.unrouteAll();
    await page.route(/\/assets\/page-.*/, (route) => route.abort());
    await page.getByRole('link', { name: 'Logs' }).first().click();
    await page.getByRole('button', { name: 'Reload' }).waitFor();
    expect(loads).toBe(1);
  });
});
