import { posix } from 'node:path';

/** What of the repository is a page of the site, and where it stands there; undefined for what is none. */
export function pageOf(path: string): string | undefined {
  if (path === 'ui/client/README.md') return 'client.md';
  const [, inside] = /^docs\/(.+\.md)$/.exec(path) ?? [];
  return inside?.replace(/(^|\/)README\.md$/, '$1index.md');
}

/** Where a link of a page leads on the site: another page, another site, or nowhere, since the rest of the repository is not there. */
export function linkOn(from: string, href: string): string | undefined {
  if (/^[a-z]+:|^#/.test(href)) return href;
  const [file = '', anchor] = href.split('#');
  const target = pageOf(posix.join(posix.dirname(from), file));
  if (target === undefined) return undefined;
  const here = posix.dirname(pageOf(from) ?? '');
  const to = posix.relative(here, target);
  return `${to.startsWith('.') ? to : `./${to}`}${anchor === undefined ? '' : `#${anchor}`}`;
}

interface Group {
  text: string;
  items: { text: string; link: string }[];
}

/** The groups of `docs/README.md`, which lists the pages, as the menu of the site. */
export function menuOf(index: string): Group[] {
  const groups: Group[] = [];
  for (const row of index.split('\n').filter((line) => line.startsWith('| '))) {
    const [, title] = /^\| \*\*(.+)\*\*/.exec(row) ?? [];
    if (title !== undefined) groups.push({ text: title, items: [] });
    const [cell = ''] = row.slice(2).split(' | ');
    for (const [, text = '', href = ''] of cell.matchAll(/\[([^\]]+)\]\(([^)]+)\)/g)) {
      const page = linkOn('docs/README.md', href);
      const label = text.replace(/^f(?=rom )/, 'F');
      if (page)
        groups
          .at(-1)
          ?.items.push({ text: label, link: `/${page.replace(/^\.\//, '').replace(/\.md$/, '')}` });
    }
  }
  return groups;
}
