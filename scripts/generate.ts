/** `npm run generate`: writes what derives from the sources (OpenAPI, types of the client, error pages, configuration); `--check` only compares. */
import { mkdir, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { problemKinds } from '../src/problems.ts';
import type { ProblemKind } from '../src/kit/problem-kind.ts';
import { variables } from '../src/config.ts';
import { eventKinds, eventTypes, sentenceOf } from '../src/events/index.ts';
import type { Variable } from '../src/kit/variable.ts';
import { loadCatalog } from '../src/providers/index.ts';
import { cliPage } from './cli-page.ts';
import { clientTypes } from './client-types.ts';
import { openApiDocument } from './openapi.ts';
import { menuOf } from '../site/pages.ts';

const root = join(import.meta.dirname, '..');

function errorPage(code: string, kind: ProblemKind): string {
  return `# ${code}

**${kind.title}** · HTTP ${kind.status} · ${mayBeRepeated(kind, 'may succeed when sent again', 'will not succeed unchanged')}

${kind.about}

*What to do:* ${kind.remedy}

\`\`\`json
{ "type": "urn:svc:problem:${code}", "code": "${code}", "status": ${kind.status}, "title": "${kind.title}" }
\`\`\`
`;
}

function mayBeRepeated({ retryable, varies }: ProblemKind, yes: string, no: string): string {
  return varies ? 'see `retryable`' : retryable ? yes : no;
}

function errorIndex(kinds: [string, ProblemKind][]): string {
  const rows = kinds.map(
    ([code, kind]) =>
      `| [\`${code}\`](${code}.md) | ${kind.status} | ${kind.title} | ${mayBeRepeated(kind, 'yes', 'no')} |`,
  );
  return `# Problems

Every refusal and failure is an \`application/problem+json\` body (RFC 9457). \`code\` is stable; this list comes from the catalogue in
\`src/problems.ts\`.

| code | status | title | retryable |
| --- | --- | --- | --- |
${rows.join('\n')}
`;
}

function configurationPage(): string {
  const rows = Object.values(variables as Record<string, Variable<unknown>>).map(
    ({ name, default: byDefault, secret, about }) =>
      `| \`${name}\`${secret ? ' (secret)' : ''} | ${byDefault ? `\`${byDefault}\`` : ''} | ${about} |`,
  );
  return `# Configuration

Read once from the environment when the process starts; all faults of single variables are reported at once, then those that contradict one another, and an unknown \`SVC_\` name is a fault. Each
variable may also be given as \`NAME_FILE\`, a path whose content is the value. This page comes from \`src/config.ts\`.

| variable | default | meaning |
| --- | --- | --- |
${rows.join('\n')}
`;
}

const tableHead = '## When each file was checked';

/** The part of the page on provider files that comes from the files; what stands before it is written by hand. */
async function providersPage(): Promise<string> {
  const path = join(root, 'docs/providers/files.md');
  const [written = ''] = (await readFile(path, 'utf8')).split(`${tableHead}\n`);
  const rows = loadCatalog()
    .list()
    .map(({ name, displayName, checked }) => {
      const when = checked ? `${checked.on} | <${checked.against}> | ${checked.except ?? ''}` : 'not yet | |';
      return `| \`${name}\` | ${displayName} | ${when} |`;
    });
  return `${written}${tableHead}

\`checked: { on, against, except }\` in a file says when it was last read against which document of the provider, and which part of the file that
document does not say. A file without it holds what public connector catalogues agree on, and nobody has held it against the provider's own words yet:
Workday shows its pages to customers only. Its file says what UiPath, Workato and IBM tell their users to copy from the report View API Clients.

| provider | | checked on | against | not confirmed there |
| --- | --- | --- | --- | --- |
${rows.join('\n')}
`;
}

const eventsHead = '## Events';

/** The page on notifications: what stands before the events is written by hand. */
async function notificationsPage(): Promise<string> {
  const path = join(root, 'docs/guides/notifications.md');
  const [written = ''] = (await readFile(path, 'utf8')).split(`${eventsHead}\n`);
  const events = eventTypes.map((type) => {
    const { when, sample } = eventKinds[type];
    const body = JSON.stringify({ notificationType: type, data: sample }, null, 2);
    return `### ${type}\n\n${when}\n\n\`\`\`json\n${body}\n\`\`\`\n\nIn words: *${sentenceOf(type, sample)}*\n`;
  });
  return `${written}${eventsHead}\n\n${events.join('\n')}`;
}

/** The pages of `docs/README.md` for those who read text, as llmstxt.org has it. */
async function pageList(): Promise<string> {
  const menu = menuOf(await readFile(join(root, 'docs/README.md'), 'utf8'));
  const groups = menu.map(
    ({ text, items }) =>
      `## ${text}\n\n${items.map((item) => `- [${item.text}](/docs${item.link}.md)`).join('\n')}\n`,
  );
  const about =
    '> The open platform that a software company hosts to read from and write to the SaaS accounts of its own customers.';
  return `# svc\n\n${about}\n\nThe API: [OpenAPI 3.1](/openapi.json).\n\n${groups.join('\n')}`;
}

async function wanted(): Promise<Map<string, string>> {
  const kinds = Object.entries(problemKinds).sort(([a], [b]) => a.localeCompare(b));
  const document = await openApiDocument();
  return new Map([
    ['openapi.json', `${JSON.stringify(document, null, 2)}\n`],
    ...(await clientTypes(document)),
    ['docs/configuration.md', configurationPage()],
    ['docs/providers/files.md', await providersPage()],
    ['docs/guides/notifications.md', await notificationsPage()],
    ['docs/cli.md', cliPage(await readFile(join(root, 'docs/cli.md'), 'utf8'))],
    ['docs/llms.txt', await pageList()],
    ['docs/errors/README.md', errorIndex(kinds)],
    ...kinds.map(([code, kind]): [string, string] => [`docs/errors/${code}.md`, errorPage(code, kind)]),
  ]);
}

const files = await wanted();
const isCheck = process.argv.includes('--check');
const present = await readdir(join(root, 'docs/errors')).catch(() => []);
const surplus = present.map((name) => `docs/errors/${name}`).filter((path) => !files.has(path));
const stale: string[] = [...surplus];
for (const [path, content] of files) {
  const before = await readFile(join(root, path), 'utf8').catch(() => undefined);
  if (before === content) continue;
  stale.push(path);
  if (isCheck) continue;
  await mkdir(dirname(join(root, path)), { recursive: true });
  await writeFile(join(root, path), content);
}
if (!isCheck) await Promise.all(surplus.map((path) => rm(join(root, path))));
if (stale.length > 0)
  console.log(`${isCheck ? 'not up to date (npm run generate)' : 'written'}: ${stale.join(', ')}`);
process.exitCode = isCheck && stale.length > 0 ? 1 : 0;
