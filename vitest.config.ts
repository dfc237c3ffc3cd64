import { defineConfig } from 'vitest/config';

const slow = process.env.ISTHMUS_SLOW === '1' ? [] : ['test/slow/**'];

export default defineConfig({
  test: {
    testTimeout: 20_000,
    pool: 'threads',
    projects: [
      {
        extends: true,
        test: {
          name: 'isthmus',
          include: ['src/**/*.test.ts', 'test/**/*.test.ts', 'scripts/**/*.test.ts'],
          exclude: ['**/node_modules/**', 'test/browser/**', ...slow],
        },
      },
      {
        extends: true,
        test: {
          name: 'browser',
          include: ['test/browser/**/*.test.ts'],
          globalSetup: ['test/browser/global-setup.ts'],
          // Most of the time such a test waits for the browser: two of them share the machine well.
          maxWorkers: 2,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
