import { describe, expect, it } from 'vitest';
import { anchorsOf, deadLinks } from './links.ts';

const other =
  '# Other page\n\n## What `it` does, at once\n\n```sh\n# no heading\n```\n\n## Twice\n\n## Twice\n';
const pages = new Map([['docs/other.md', other]]);
const files = new Set(['docs/other.md', 'deploy/Dockerfile']);
const dead = (text: string): string[] => deadLinks({ path: 'docs/page.md', text }, pages, files);

describe('scripts/links', () => {
  it('makes the anchors that GitHub makes', () => {
    expect([...anchorsOf(other)]).toEqual(['other-page', 'what-it-does-at-once', 'twice', 'twice-1']);
  });

  it.each([
    '[a](other.md#what-it-does-at-once)',
    '[a](../deploy), [b](../deploy/Dockerfile)',
    '[a](https://example.com/nothing.md)',
    '# Here\n\n[a](#here)'.replace('# Here', '# here'),
    '`[a](nothing.md)`',
    '```md\n[a](nothing.md)\n```',
  ])('lets pass what leads somewhere: %s', (text) => {
    const own = new Map([...pages, ['docs/page.md', text]]);
    expect(deadLinks({ path: 'docs/page.md', text }, own, new Set([...files, 'docs/page.md']))).toEqual([]);
  });

  it.each([
    ['[a](nothing.md)', 'docs/page.md: there is no docs/nothing.md'],
    ['[a](docs/other.md)', 'docs/page.md: there is no docs/docs/other.md'],
    ['[`a`](other.md#no-heading)', 'docs/page.md: docs/other.md has no heading #no-heading'],
  ])('names what leads nowhere: %s', (text, fault) => {
    expect(dead(text)).toEqual([fault]);
  });
});
