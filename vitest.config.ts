import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

const isSlow = process.env.ISTHMUS_SLOW === '1';
const slow = isSlow ? [] : ['test/slow/**'];

export default defineConfig({
  test: {
    // What hangs is found by these; a machine that does much else at once is slow, not wrong.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 30_000 } },
    pool: 'threads',
    projects: [
      {
        extends: true,
        test: {
          name: 'isthmus',
          // Files of one thread share what they load; the slow suite measures, so that each file has its own.
          isolate: isSlow,
          setupFiles: ['test/support/equal-messages.ts'],
          include: ['{src,packages}/**/*.test.ts', 'test/**/*.test.ts', 'scripts/**/*.test.ts'],
          exclude: ['**/node_modules/**', 'test/browser/**', ...slow],
          // Vitest would leave one of two cores to itself, which needs little of it; some files wait for other programs.
          maxWorkers: Math.max(3, availableParallelism() - 1),
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
