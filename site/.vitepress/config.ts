import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { transformerStyleToClass } from '@shikijs/transformers';
import { renderMermaidSVG } from 'beautiful-mermaid';
import { defineConfig, type MarkdownRenderer } from 'vitepress';
import { anchorOf } from '../../scripts/links.ts';
import { linkOn, menuOf, pageOf } from '../pages.ts';

const root = join(import.meta.dirname, '../..');
const out = join(root, 'dist/docs');
// Attributes that style are refused by the policy that the site is served with.
const classes = transformerStyleToClass();

/** A picture in both schemes: as an image it needs nothing of the page. */
function picture(text: string, name: string): string {
  const schemes = { light: { bg: '#ffffff', fg: '#3c3c43' }, dark: { bg: '#1b1b1f', fg: '#dfdfd6' } };
  return Object.entries(schemes)
    .map(([scheme, colors]) => {
      const svg = renderMermaidSVG(text, { ...colors, transparent: true }).replaceAll(/@import [^;]+;/g, '');
      const data = Buffer.from(svg).toString('base64');
      return `<p class="only-${scheme}"><img alt="${name}" src="data:image/svg+xml;base64,${data}"></p>`;
    })
    .join('\n');
}

function extend(md: MarkdownRenderer): void {
  const fence = md.renderer.rules.fence;
  md.renderer.rules.fence = (tokens, index, options, env, self) => {
    const token = tokens[index];
    if (token?.info.trim() !== 'mermaid') return fence?.(tokens, index, options, env, self) ?? '';
    const before = tokens.slice(0, index).findLastIndex(({ type }) => type === 'heading_open');
    return picture(token.content, md.utils.escapeHtml(`Picture: ${tokens[before + 1]?.content ?? ''}`));
  };
  md.core.ruler.push('links of the repository', ({ tokens, env }) => {
    const from = String(env.realPath ?? env.path).slice(root.length + 1);
    for (const { children } of tokens)
      for (const [index, token] of (children ?? []).entries()) {
        if (token.type !== 'link_open') continue;
        const href = linkOn(from, token.attrGet('href') ?? '');
        if (href !== undefined) token.attrSet('href', href);
        else dropLink(children ?? [], index);
      }
  });
}

/** Leaves its text. */
function dropLink(tokens: { type: string; tag: string; hidden: boolean }[], open: number): void {
  const close = tokens.findIndex(({ type }, index) => index > open && type === 'link_close');
  for (const token of [tokens[open], tokens[close]])
    if (token) Object.assign(token, { type: 'text', tag: '', content: '', attrs: null });
}

export default defineConfig({
  title: 'svc',
  description: 'Read from and write to the SaaS accounts of your customers.',
  base: '/docs/',
  srcDir: '..',
  srcExclude: [
    '*.md',
    '{bench,deploy,examples,migrations,scripts,simulator,site,src,test,dist}/**',
    'ui/!(client)/**',
    'ui/client/*/**',
  ],
  outDir: out,
  cacheDir: join(import.meta.dirname, '../node_modules/.cache'),
  rewrites: (id) => pageOf(id) ?? id,
  // What is left of inline scripts is the same on every page.
  metaChunk: true,
  head: [['link', { rel: 'stylesheet', href: '/docs/code.css' }]],
  markdown: {
    anchor: { slugify: anchorOf },
    codeTransformers: [classes],
    theme: { light: 'github-light', dark: 'github-dark' },
    config: extend,
  },
  themeConfig: {
    search: { provider: 'local' },
    nav: [
      { text: 'Quickstart', link: '/quickstart' },
      { text: 'API reference', link: '/api/', target: '_self' },
    ],
    sidebar: menuOf(readFileSync(join(root, 'docs/README.md'), 'utf8')),
    outline: [2, 3],
  },
  transformHtml: (page) => page.replaceAll(/ style="[^"]*"/g, ''),
  buildEnd: ({ pages }) => {
    writeFileSync(join(out, 'code.css'), classes.getCSS());
    // The pages as they were written, for those who read text.
    for (const path of pages) {
      const target = join(out, pageOf(path) ?? path);
      mkdirSync(dirname(target), { recursive: true });
      cpSync(join(root, path), target);
    }
  },
});
