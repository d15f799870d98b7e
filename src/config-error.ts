/** What is wrong with the environment, all of it at once. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly issues: string[];
  constructor(issues: string[]) {
    super(`The configuration is not valid:\n${issues.map((issue) => `  - ${issue}`).join('\n')}`);
    this.issues = issues;
  }
}
