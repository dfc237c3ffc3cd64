import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

const slow = process.env.ISTHMUS_SLOW === '1' ? [] : ['test/slow/**'];

export default defineConfig({
  test: {
    testTimeout: 20_000,
    hookTimeout: 20_000,
    // A machine that does other work as well is no fault of what is waited for.
    expect: { poll: { timeout: 10_000 } },
    pool: 'threads',
    projects: [
      {
        extends: true,
        test: {
          name: 'isthmus',
          include: ['src/**/*.test.ts', 'test/**/*.test.ts', 'scripts/**/*.test.ts'],
          exclude: ['**/node_modules/**', 'test/browser/**', ...slow],
          // Vitest would leave one of two cores to itself, which needs little of it.
          maxWorkers: Math.max(2, availableParallelism() - 1),
        },
      },
      {
        extends: true,
        test: {
          name: 'browser',
          include: ['test/browser/**/*.test.ts'],
          globalSetup: ['test/browser/global-setup.ts'],
          // A machine that does much else at once is slow, not wrong.
          testTimeout: 60_000,
          hookTimeout: 60_000,
          expect: { poll: { timeout: 15_000 } },
          // Most of the time such a test waits for the browser: two of them share the machine well.
          maxWorkers: 2,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
