import type { SpecItem, SpecSection } from './item.ts';

/** The list as a document: a table for each section. */
export function render(sections: readonly SpecSection[]): string {
  const items = sections.flatMap((section) => section.items);
  const later = items.filter((item) => item.later).length;
  return `# Coverage of the specification

Each line of the specification with the tests that hold it: one in which it is kept, one in which what breaks it is refused. Written by
\`npm run coverage:spec\` from \`scripts/spec-items/\`; the command fails when a test named here does not exist or is skipped, and when a line
has neither tests nor a word on what brings it. ${items.length} lines, ${items.length - later} held whole, ${later} in part or wholly later. A
title may be shortened to a part that only one test has.

${sections.map(renderSection).join('\n')}
${links(items)}
`;
}

function renderSection({ title, items }: SpecSection): string {
  return `## ${title}

| line | it says | kept | refused |
| --- | --- | --- | --- |
${items.map(renderItem).join('\n')}
`;
}

function renderItem({ id, says, accepts, refuses, later }: SpecItem): string {
  const cells = [
    `**${id}**`,
    says,
    [...(later ? [`*later: ${later}*`] : []), ...tests(accepts)].join('<br>'),
    typeof refuses === 'string' ? `*${refuses}*` : tests(refuses).join('<br>'),
  ];
  return `| ${cells.map(escape).join(' | ')} |`;
}

/** The file once, its tests after it. */
function tests(references: readonly string[]): string[] {
  const byFile = Map.groupBy(references, (reference) => reference.split(' > ', 1)[0] ?? '');
  return [...byFile].map(([file, group]) => {
    const titles = group.map((reference) => reference.slice(file.length + 3));
    return `[${shorten(file)}] ${titles.map((title) => `“${title}”`).join(', ')}`;
  });
}

/** Where the names of files in brackets lead. */
function links(items: readonly SpecItem[]): string {
  const files = items
    .flatMap(({ accepts, refuses }) => [...accepts, ...(typeof refuses === 'string' ? [] : refuses)])
    .map((reference) => reference.split(' > ', 1)[0] ?? '');
  const lines = [...new Set(files)].sort().map((file) => `[${shorten(file)}]: ../${file}`);
  return lines.join('\n');
}

function shorten(file: string): string {
  return file.replace(/\.(test|testsuite)\.ts$/, '').replace(/^(src|test)\//, '');
}

function escape(cell: string): string {
  return cell.replaceAll('|', '\\|').replaceAll('<', '&lt;').replaceAll('&lt;br>', '<br>');
}
