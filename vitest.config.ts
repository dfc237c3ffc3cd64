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
        },
      },
    ],
  },
});
