// The console over HTTPS, in a browser.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTestAuthority, trustAuthority } from '../support/certificates.ts';
import { type ConsoleApp, isWithoutBrowser, PASSWORD, startConsole } from './console-app.ts';

describe.skipIf(isWithoutBrowser)('the console over HTTPS', () => {
  let console: ConsoleApp;
  let endTrust: () => void;
  let folder: string;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'isthmus-tls-console-'));
    const authority = createTestAuthority();
    const { cert, key } = authority.issue({ names: ['127.0.0.1', 'localhost'] });
    writeFileSync(join(folder, 'cert.pem'), cert);
    writeFileSync(join(folder, 'key.pem'), key);
    endTrust = trustAuthority(authority.cert);
    console = await startConsole({
      environment: {
        ISTHMUS_TLS_CERT: join(folder, 'cert.pem'),
        ISTHMUS_TLS_KEY: join(folder, 'key.pem'),
      },
    });
  });
  afterAll(async () => {
    await console.close();
    endTrust();
    rmSync(folder, { recursive: true, force: true });
  });

  test('somebody signs in, sees live what clients ask, and has a cookie for https alone', async () => {
    // What the browser thinks of the authority is not what is tested.
    const page = await console.openPage({ ignoreHTTPSErrors: true });
    await page.goto(`${console.url}/requests`);
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Requests', level: 1 }).waitFor();
    const [cookie] = await page.context().cookies();
    expect(cookie).toMatchObject({
      name: expect.stringMatching(/^__Host-isthmus_session_[0-9a-f]{8}$/),
      secure: true,
    });
    expect(await console.ask()).toMatchObject({ status: 200 });
    await page.locator('.request-line').first().waitFor();
    expect(console.problems).toEqual([]);
  });
});
