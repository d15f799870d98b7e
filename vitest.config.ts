import { join } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { defineConfig } from 'vitest/config';
import { compiled } from './scripts/child.ts';

// Of each file a process loads the same packages.
Object.assign(process.env, compiled);

/** The longest file: at the end it would run alone. */
const longest = 'test/faults/suite.test.ts';

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLongest = ({ moduleId }: TestSpecification): boolean => moduleId.endsWith(longest);
    const sorted = await super.sort(files);
    return [...sorted.filter(isLongest), ...sorted.filter((file) => !isLongest(file))];
  }
}

export default defineConfig({
  // As the pages are built: components are tested without a build of the client.
  resolve: {
    alias: [{ find: /^@svc\/client$/, replacement: join(import.meta.dirname, 'ui/client/src/index.ts') }],
  },
  test: {
    include: ['{src,simulator,bench,scripts,test,ui}/**/*.test.ts'],
    globalSetup: ['test/global-setup.ts'],
    // A test of one room may meet the problems of any.
    setupFiles: ['src/problems.ts'],
    pool: 'forks',
    // Files wait for processes, clocks and browsers: two workers left a fifth to a third of two cores unused.
    maxWorkers: 3,
    sequence: { sequencer: LongestFirst },
    testTimeout: 30_000,
    hookTimeout: 120_000,
    // The second that is usual is short where two files share a busy machine.
    expect: { poll: { timeout: 10_000 } },
    restoreMocks: true,
    // What measures time, or waits for processes, has a second try where nobody knows what else the machine does.
    retry: process.env['CI'] ? 1 : 0,
  },
});
