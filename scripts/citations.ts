import { dirname, posix } from 'node:path';

export interface Citation {
  kind: 'page' | 'path' | 'invariant' | 'contract' | 'paragraph' | 'outside' | 'unmerged';
  target: string;
  line: number;
}

/** What a citation may lead to. */
export interface Known {
  files: ReadonlySet<string>;
  invariants: ReadonlySet<string>;
  contract: ReadonlySet<string>;
  paragraphs: ReadonlySet<string>;
}

const forms: [Citation['kind'], RegExp][] = [
  ['invariant', /docs\/invariants\.md, (\d+)/g],
  ['contract', /docs\/contract\.md, ([A-Z][a-z]+(?: [a-z]+)*)/g],
  ['page', /(?<![\w/.:-])((?:\.{0,2}\/)?(?:[\w.-]+\/)*[\w-]+\.md)\b/g],
  ['path', /`((?:src|test|simulator|scripts|bench|migrations|docs)(?:\/[\w.-]+)+)\/?`/g],
  ['paragraph', /§(\d+(?:\.\d+)*)/g],
  ['unmerged', /^(<{7} |>{7} )/g],
  ['outside', /\((?:the )?((?:contract|architecture)(?:[,:][^)]*)?)\)/g],
  [
    'outside',
    /\b((?:[Pp]roduct-api|providers [HSG]\d|reliability \d|aesthetics|[Ss]pecification,? §?\d|issue \d)[\w.]*)/g,
  ],
];

/** Every place in the text that sends its reader somewhere else in the repository, or outside it. */
export function citationsIn(text: string): Citation[] {
  return text
    .split('\n')
    .flatMap((line, index) =>
      forms.flatMap(([kind, form]) =>
        [...line.matchAll(form)].map((match) => ({ kind, target: match[1] ?? '', line: index + 1 })),
      ),
    );
}

/** Why a citation leads nowhere; undefined when it does lead somewhere. */
export function faultIn({ kind, target }: Citation, from: string, known: Known): string | undefined {
  if (kind === 'unmerged') return 'a conflict of a merge stands in the text';
  if (kind === 'outside') return `"${target}" is a document outside the repository`;
  if (kind === 'invariant' && !known.invariants.has(target))
    return `docs/invariants.md has no rule ${target}`;
  if (kind === 'contract' && ![...known.contract].some((heading) => target.startsWith(heading)))
    return `docs/contract.md has no heading "${target}"`;
  if (kind === 'paragraph' && !known.paragraphs.has(target)) return `docs/spec-coverage.md has no §${target}`;
  if (kind === 'path' && !isThere(target, known.files)) return `there is no ${target}`;
  if (kind === 'page' && !leads(target, from, known.files)) return `there is no page ${target}`;
  return undefined;
}

/** A page is named from the root, from the folder of who names it, or from docs. */
function leads(target: string, from: string, files: ReadonlySet<string>): boolean {
  return ['.', dirname(from), 'docs'].some((base) => files.has(posix.join(base, target)));
}

/** A file, or a folder with one in it. */
function isThere(target: string, files: ReadonlySet<string>): boolean {
  return files.has(target) || [...files].some((file) => file.startsWith(`${target}/`));
}
