import { describe, expect, it } from 'vitest';
import { verdictOf, type TestReport } from './verdict.ts';

type Assertion = TestReport['testResults'][number]['assertionResults'][number];
const late =
  'TestTimeoutError: Test timed out in 60000ms.\nIf this is a long-running test, pass a timeout value.';
const failed = (...failureMessages: string[]): Assertion => ({
  status: 'failed',
  fullName: 'keeps it',
  failureMessages,
});
const passed: Assertion = { status: 'passed', fullName: 'does it' };
const report = (status: string, ...assertionResults: Assertion[]): TestReport => ({
  numPassedTests: assertionResults.filter((one) => one.status === 'passed').length,
  testResults: [{ status, message: 'it cannot be loaded', outside: [], assertionResults }],
});
const skipped: Assertion = { ...passed, status: 'skipped' };
/** Nothing was tested, since a hook failed. */
const hooked = (...outside: string[]): TestReport => ({
  numPassedTests: 0,
  testResults: [{ status: 'failed', message: '', outside, assertionResults: [skipped] }],
});
const lateHook = late.replaceAll('Test', 'Hook');

describe('test/mutants/verdict', () => {
  it.each<[string, ReturnType<typeof verdictOf>, number | null, TestReport | undefined]>([
    [
      'a test that failed noticed',
      { killedBy: 'keeps it' },
      1,
      report('failed', passed, failed('AssertionError: 1')),
    ],
    [
      'also one that was late at first',
      { killedBy: 'keeps it' },
      1,
      report('failed', failed(late, 'AssertionError: 1')),
    ],
    [
      'also one of a file that was stopped',
      { killedBy: 'keeps it' },
      1,
      report('passed', failed('AssertionError: 1'), skipped),
    ],
    [
      'one that only ran out of time did not',
      { broken: 'keeps it ran out of time, and says nothing else' },
      1,
      report('failed', failed(late, late)),
    ],
    [
      'what comes before all tests noticed',
      { killedBy: 'what comes before does it' },
      1,
      hooked(lateHook, 'Error: 503'),
    ],
    [
      'what comes before all tests and only ran out of time did not',
      { broken: 'what comes before does it ran out of time, and says nothing else' },
      1,
      hooked(lateHook),
    ],
    ['all passed', {}, 0, report('passed', passed)],
    ['nothing ran', { broken: 'it cannot be loaded' }, 0, report('passed')],
    ['a file that cannot be loaded', { broken: 'it cannot be loaded' }, 1, report('failed')],
    ['no report', { broken: 'said' }, 1, undefined],
    ['no end', { broken: 'no end within the time' }, null, undefined],
  ])('%s', (_what, verdict, code, given) => {
    expect(verdictOf(code, given, 'said')).toEqual(verdict);
  });
});
