import type { Paragraph } from './paragraphs.ts';

export interface TitledTest {
  path: string;
  title: string;
}

/** The tests whose titles carry the paragraph. */
function testsOf({ id }: Paragraph, tests: readonly TitledTest[]): TitledTest[] {
  return tests.filter(({ title }) => paragraphsIn(title).includes(id));
}

function paragraphsIn(title: string): string[] {
  return [...title.matchAll(/§(\d+(?:\.\d+)*)/g)].map((match) => match[1] ?? '');
}

/** A paragraph or a member that no test names, and a test of a paragraph that does not exist. One line each. */
export function faultsOf(paragraphs: readonly Paragraph[], tests: readonly TitledTest[]): string[] {
  const ids = new Set(paragraphs.map(({ id }) => id));
  const unknown = tests.flatMap(({ path, title }) =>
    paragraphsIn(title)
      .filter((id) => !ids.has(id))
      .map((id) => `${path} > ${title}: there is no §${id}`),
  );
  const unheld = paragraphs.flatMap((paragraph) => {
    const titles = testsOf(paragraph, tests).map(({ title }) => title.toLowerCase());
    if (titles.length === 0) return [`§${paragraph.id}: no test carries it in its title`];
    const members = paragraph.members?.split(/\s+/) ?? [];
    return members
      .filter((member) => !titles.some((title) => names(title, member.toLowerCase())))
      .map((member) => `§${paragraph.id}: no test of it names ${member}`);
  });
  return [...unknown, ...unheld];
}

/** As a word: `value` is not named by `selectedValueDefaults`. */
function names(title: string, member: string): boolean {
  return new RegExp(`(?<![\\w-])${member.replaceAll('.', '\\.')}s?(?![\\w-])`).test(title);
}

/** The list as a document. */
export function render(paragraphs: readonly Paragraph[], tests: readonly TitledTest[]): string {
  return `# Coverage of the specification

Each paragraph of the public specification, in our own words, with the files whose tests hold it. The title of such a test has the paragraph in it, as
\`§2.4\`; comments name paragraphs in the same way. Written by \`npm run coverage:spec\`, which fails when no test carries a paragraph or names one of its members, and when a test carries
a paragraph that is not here.

${paragraphs.map((paragraph) => section(paragraph, testsOf(paragraph, tests))).join('\n')}`;
}

function section({ id, title, says, later }: Paragraph, tests: readonly TitledTest[]): string {
  const paths = [...new Set(tests.map(({ path }) => path))];
  return `## §${id} ${title}

${says}${later === undefined ? '' : ` *Later: ${later}*`}

${paths.map((path) => `- [${path}](../${path})`).join('\n')}
`;
}
