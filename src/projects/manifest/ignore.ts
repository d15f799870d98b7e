import type { ManifestIssue } from './schema.ts';

const directive = /(?:^|\s)#\s*svc:ignore\[([\w\s,-]+)\]/;

/** Takes away the warnings that a comment `# svc:ignore[rule, …]` names: on its own line, or on the line above. */
export function silence(warnings: ManifestIssue[], text: string): ManifestIssue[] {
  if (warnings.length === 0 || !text.includes('svc:ignore')) return warnings;
  const ignored = ignoredRules(text.split(/\r?\n/));
  return warnings.filter(({ line, rule }) => !ignored.get(line)?.has(rule));
}

/** The ignored rules by line, from 1. A comment that stands alone speaks for the next line with content. */
function ignoredRules(lines: readonly string[]): Map<number, Set<string>> {
  const byLine = new Map<number, Set<string>>();
  let pending = new Set<string>();
  for (const [index, line] of lines.entries()) {
    const rules = (directive.exec(line)?.[1] ?? '').split(',').map((rule) => rule.trim());
    const standsAlone = /^\s*(#|$)/.test(line);
    if (standsAlone) {
      for (const rule of rules) pending.add(rule);
      continue;
    }
    byLine.set(index + 1, new Set([...pending, ...rules]));
    pending = new Set();
  }
  return byLine;
}
