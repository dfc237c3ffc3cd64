import { describe, expect, test } from 'vitest';
import { isWithoutBrowser, startConsole } from './console-app.ts';

describe.skipIf(isWithoutBrowser)('the list of keys', () => {
  test('names every limit a key has', async () => {
    const console = await startConsole();
    try {
      const expiresAt = Date.UTC(2099, 4, 6, 12);
      await console.api('POST', '/api/keys', {
        name: 'Full',
        dailyTokens: 2000,
        dailyImages: 3,
        expiresAt,
      });
      const page = await console.open('/keys');
      const limits = page.locator('.key-limits');
      await limits.getByText('2K tokens/day').waitFor();
      await limits.getByText('3 images/day').waitFor();
      await limits.getByText('until May 6, 2099').waitFor();
      expect(console.problems).toEqual([]);
    } finally {
      await console.close();
    }
  });
});
