import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts', 'scripts/**/*.test.ts'],
    exclude: ['**/node_modules/**', ...(process.env.ISTHMUS_SLOW === '1' ? [] : ['test/slow/**'])],
    testTimeout: 20_000,
    pool: 'threads',
  },
});
