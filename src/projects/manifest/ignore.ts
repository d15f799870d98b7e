import type { ManifestIssue } from './schema.ts';

const directive = /(?:^|\s)#\s*svc:ignore\[([\w\s,-]+)\]/;

/** The rules that comments name, by the line whose warnings they silence, from 1. */
export type Ignored = ReadonlyMap<number, ReadonlySet<string>>;

/** Takes away the warnings that a comment `# svc:ignore[rule, …]` names: on its own line, or on the line above. */
export function silence(warnings: ManifestIssue[], ignored: Ignored): ManifestIssue[] {
  return warnings.filter(({ line, rule }) => !ignored.get(line)?.has(rule));
}

/** A comment that stands alone speaks for the next line with content. */
export function ignoredRules(text: string): Ignored {
  const byLine = new Map<number, Set<string>>();
  if (!text.includes('svc:ignore')) return byLine;
  let pending = new Set<string>();
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    const rules = (directive.exec(line)?.[1] ?? '').split(',').flatMap((rule) => rule.trim() || []);
    const standsAlone = /^\s*(#|$)/.test(line);
    if (standsAlone) {
      for (const rule of rules) pending.add(rule);
      continue;
    }
    const named = new Set([...pending, ...rules]);
    if (named.size > 0) byLine.set(index + 1, named);
    pending = new Set();
  }
  return byLine;
}
