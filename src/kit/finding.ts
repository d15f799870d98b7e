/** What a look at a running svc found. */
export interface Finding {
  /** What was looked at, such as `database`. */
  subject: string;
  state: 'good' | 'warning' | 'fault';
  says: string;
  remedy?: string;
}

export const good = (subject: string, says: string): Finding => ({ subject, state: 'good', says });
export const warning = (subject: string, says: string, remedy: string): Finding => ({
  subject,
  state: 'warning',
  says,
  remedy,
});
export const faulty = (subject: string, says: string, remedy: string): Finding => ({
  subject,
  state: 'fault',
  says,
  remedy,
});

/** For people: what is wrong with its remedy below, and one line each of the rest. */
export function describeFindings(findings: readonly Finding[]): string {
  const marks = { good: 'ok     ', warning: 'warning', fault: 'FAULT  ' };
  const faults = findings.filter(({ state }) => state === 'fault').length;
  const warnings = findings.filter(({ state }) => state === 'warning').length;
  return [
    ...findings.flatMap(({ subject, state, says, remedy }) => [
      `${marks[state]}  ${subject}: ${says}`,
      ...(remedy === undefined ? [] : [`         → ${remedy}`]),
    ]),
    faults + warnings === 0 ? 'Nothing is wrong.' : `${faults} to be mended, ${warnings} to be looked at.`,
  ].join('\n');
}
