import { writeFileSync } from 'node:fs';
import type { SerializedError } from 'vitest';
import type { Reporter, TestModule } from 'vitest/node';
import type { TestReport } from './verdict.ts';

/** As vitest's own report in JSON, which leaves out what went wrong in the hooks of a `describe`. Writes to `TEST_REPORT`. */
export default class VerdictReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const testResults = modules.map((module) => resultOf(module));
    const all = testResults.flatMap(({ assertionResults }) => assertionResults);
    const numPassedTests = all.filter(({ status }) => status === 'passed').length;
    const report: TestReport = { numPassedTests, testResults };
    writeFileSync(process.env['TEST_REPORT'] ?? '', JSON.stringify(report));
  }
}

function resultOf(module: TestModule): TestReport['testResults'][number] {
  const suites = [...module.children.allSuites()];
  return {
    status: module.ok() ? 'passed' : 'failed',
    message: module.errors()[0]?.message ?? '',
    outside: [...module.errors(), ...suites.flatMap((suite) => suite.errors())].map(textOf),
    assertionResults: [...module.children.allTests()].map((test) => ({
      status: test.result().state,
      fullName: test.fullName,
      failureMessages: (test.result().errors ?? []).map(textOf),
    })),
  };
}

function textOf({ stack, message }: SerializedError): string {
  return stack ?? message;
}
