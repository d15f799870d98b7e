import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createElement, type ReactNode } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { describe, expect, it } from 'vitest';
import { SvcError } from '../../client/src/index.ts';
import { commonProblems } from '../../../src/kit/problem-catalogue.ts';
import { providerProblems } from '../../../src/providers/problems.ts';
import { Failure } from '../src/components/ui.tsx';
import { problemTexts } from '../src/text/problems.ts';
import { Root } from '../src/text/index.tsx';

const src = join(import.meta.dirname, '../../../src');
const roomOf = (file: string): string =>
  file
    .split('/')
    .slice(0, file.startsWith('actions/') ? 2 : 1)
    .join('/');

/** The problems of each room that a page may call, and of those that every room answers with. */
async function answeredToPages(): Promise<string[]> {
  const files = globSync('**/*.ts', { cwd: src }).filter((file) => !file.endsWith('.test.ts'));
  const open = files.filter((file) =>
    /scopes: \[[^\]]*'frontend'/.test(readFileSync(join(src, file), 'utf8')),
  );
  const rooms = [...new Set(open.map(roomOf))];
  expect(rooms).toContain('connections');
  const declared = await Promise.all(
    rooms.map(async (room) => (await import(join(src, room, 'problems.ts'))) as Record<string, object>),
  );
  return [commonProblems, providerProblems, ...declared.flatMap((room) => Object.values(room))].flatMap(
    Object.keys,
  );
}

const shown = (language: string, page: ReactNode): string =>
  renderToStaticMarkup(createElement(Root, { language, appName: 'Mailmonkey', children: page }));

describe('ui/embed/problems', () => {
  it('has a sentence for every problem that a page can be answered with', async () => {
    const codes = await answeredToPages();
    expect(codes).toContain('sample-read-failed');
    expect(codes.filter((code) => problemTexts[code] === undefined)).toEqual([]);
  });

  it.each([
    ['provider-app-missing', 'Das ist ein Fehler von Mailmonkey.', false],
    ['internal', 'Hier ist etwas schiefgegangen.', false],
    ['unauthenticated', 'Melden Sie sich in dieser Seite neu an', false],
    ['credentials-rejected', 'Die Zugangsdaten wurden nicht angenommen.', true],
  ])('says it in the language of the page: %s', (code, sentence, isOpen) => {
    const error = new SvcError({ code, status: 422, detail: 'The field `city` is not there.' });
    const text = shown('de', createElement(Failure, { error }));
    expect(text).toContain(sentence);
    expect(text.includes('<bdi lang="en">The field `city` is not there.</bdi>')).toBe(isOpen);
  });
});
