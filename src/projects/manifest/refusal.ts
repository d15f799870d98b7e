import { refuse, type Issue, type Problem } from '../../kit/problem.ts';
import { renderPath, type Finding } from './finding.ts';
import type { ManifestIssue } from './schema.ts';

/** An issue of a problem body that also names the rule of the manifest. */
interface RuleIssue extends Issue {
  rule: string;
}

/** The refusal of a manifest: 422 with a line and column for each error. */
export function refuseManifest(errors: readonly ManifestIssue[]): Problem {
  const issues = errors.map(({ rule, path, message, suggestion, line, column }): RuleIssue => {
    return { in: 'body', name: path, detail: sentence(message, suggestion), line, column, rule };
  });
  return refuse(issues, 'manifest-invalid');
}

/** The same for content that came as JSON. */
export function refuseContent(findings: readonly Finding[]): Problem {
  const issues = findings.map(({ rule, path, message, suggestion }): RuleIssue => {
    return { in: 'body', name: renderPath(path), detail: sentence(message, suggestion), rule };
  });
  return refuse(issues, 'manifest-invalid');
}

function sentence(message: string, suggestion?: string): string {
  return suggestion === undefined ? message : `${message}. ${suggestion}`;
}
