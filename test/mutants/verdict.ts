/** What `reporter.ts` writes of a run. */
export interface TestReport {
  numPassedTests: number;
  testResults: {
    status: string;
    message: string;
    /** What went wrong outside of its tests: in hooks, or while it was loaded. */
    outside: string[];
    assertionResults: { status: string; fullName: string; failureMessages?: string[] }[];
  }[];
}

/** Which test noticed, or why no verdict can be given; neither: all passed. */
export interface Verdict {
  killedBy?: string;
  broken?: string;
}

/** Pure. `code` is null where the run was stopped; a test that only runs out of time has noticed nothing. */
export function verdictOf(code: number | null, report: TestReport | undefined, said: string): Verdict {
  if (code === null) return { broken: 'no end within the time' };
  const failed = report?.testResults.filter(hasFailed) ?? [];
  const all = failed.flatMap(({ assertionResults }) => assertionResults);
  const failures = all.filter(({ status }) => status === 'failed');
  const noticed = failures.find(({ failureMessages = [] }) => failureMessages.some((one) => !isLate(one)));
  if (noticed) return { killedBy: noticed.fullName };
  if (failures[0]) return { broken: `${failures[0].fullName} ran out of time, and says nothing else` };
  // Without a test that failed, what comes before all of them did; a file that cannot be loaded names none.
  if (all[0]) {
    const { fullName } = all[0];
    const hasNoticed = failed.some(({ outside }) => outside.some((one) => !isLate(one)));
    if (hasNoticed) return { killedBy: `what comes before ${fullName}` };
    return { broken: `what comes before ${fullName} ran out of time, and says nothing else` };
  }
  if (code === 0 && report && report.numPassedTests > 0) return {};
  return { broken: report?.testResults.map(({ message }) => message).join('\n') || said };
}

/** A file that was stopped by the first failure of another may count as passed, in spite of its own. */
function hasFailed({ status, assertionResults }: TestReport['testResults'][number]): boolean {
  return status === 'failed' || assertionResults.some((one) => one.status === 'failed');
}

function isLate(message: string): boolean {
  return /^(?:\w*Error: )?(?:Test|Hook) timed out in \d+ms/.test(message);
}
