import { posix } from 'node:path';

export interface Page {
  path: string;
  text: string;
}

const fence = /^ *(`{3,}|~{3,})[^\n]*\n[\s\S]*?^ *\1`* *$/gm;
const link = /\[[^\]\n]*(?:\][^\]\n]*)?\]\(([^()\s]+)\)/g;

/** The anchor of a heading, as GitHub makes it; the site makes the same (`site/.vitepress/config.ts`). */
export function anchorOf(heading: string): string {
  const text = heading.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').replaceAll(/[`*]/g, '');
  return text
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\p{M}_ -]/gu, '')
    .replaceAll(' ', '-');
}

export function anchorsOf(text: string): Set<string> {
  const headings = [...text.replaceAll(fence, '').matchAll(/^#{1,6} (.+)$/gm)];
  const seen = new Map<string, number>();
  return new Set(
    headings.map(([, heading = '']) => {
      const anchor = anchorOf(heading);
      const count = seen.get(anchor) ?? 0;
      seen.set(anchor, count + 1);
      return count === 0 ? anchor : `${anchor}-${count}`;
    }),
  );
}

/** Why each link of a page that leads nowhere does so. What leads to other sites is not looked at. */
export function deadLinks(
  { path, text }: Page,
  pages: ReadonlyMap<string, string>,
  files: ReadonlySet<string>,
): string[] {
  const prose = text.replaceAll(fence, '').replaceAll(/`[^`\n]*`/g, '');
  return [...prose.matchAll(link)].flatMap(([, target = '']) => {
    if (/^[a-z]+:/.test(target)) return [];
    const [file = '', anchor] = target.split('#');
    const to = file === '' ? path : posix.join(posix.dirname(path), file);
    const isThere =
      files.has(to) || [...files].some((other) => other.startsWith(`${to.replace(/\/$/, '')}/`));
    if (!isThere) return [`${path}: there is no ${to}`];
    if (anchor === undefined) return [];
    return anchorsOf(pages.get(to) ?? '').has(anchor) ? [] : [`${path}: ${to} has no heading #${anchor}`];
  });
}
