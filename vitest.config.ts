import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['{src,simulator,bench,scripts,test,ui}/**/*.test.ts'],
    globalSetup: ['test/global-setup.ts'],
    // A test of one room may meet the problems of any.
    setupFiles: ['src/problems.ts'],
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 120_000,
    restoreMocks: true,
    // What measures time, or waits for processes, has a second try where nobody knows what else the machine does.
    retry: process.env['CI'] ? 1 : 0,
  },
});
