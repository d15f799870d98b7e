import { readFileSync } from 'node:fs';
import { glob } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';

/** Words of the rooms above. That rows belong to a project and a group is all that `src/kit` knows of them. */
const words =
  /provider|connector|consumer|customer|builder|installation|integration|manifest|delivery|deliveries|webhook|backfill|revision|hubspot|salesforce/i;

/** What has such a word in it and is something else. */
const names =
  /type-?provider|buildConnector(\.connector)?|connectorOf|--locale-provider|docs\/decisions\/[\w-]+/gi;

/** Files that may hold one, and why. */
const exceptions: Record<string, { line: RegExp; why: string }> = {
  'src/kit/problem.ts': {
    line: /\bprovider\b|ProviderAnswerSummary/,
    why: 'the member of a problem in which the answer of another server is shown',
  },
  'src/kit/problem-schema.ts': {
    line: /\bprovider\b|ProviderAnswer/,
    why: 'the schema of that member',
  },
  'src/kit/http/egress.ts': { line: /connectors|: buildConnector/, why: 'the word of undici for what dials' },
  'src/kit/db/embedded/cluster.ts': {
    line: /inside PostgreSQL/,
    why: 'the word of PostgreSQL for its locales',
  },
};

describe('src/kit', () => {
  it('knows no word of the rooms above it', async () => {
    const found: string[] = [];
    for await (const path of glob('src/kit/**/*.ts')) {
      if (/\.(test|testsuite|fixture)\.ts$/.test(path)) continue;
      for (const [index, line] of readFileSync(path, 'utf8').split('\n').entries()) {
        const isMeant = words.test(line.replaceAll(names, '')) && !exceptions[path]?.line.test(line);
        if (isMeant) found.push(`${path}:${index + 1}: ${line.trim()}`);
      }
    }
    expect(found).toEqual([]);
  });

  it('has no exception that nothing needs', () => {
    const idle = Object.entries(exceptions).filter(
      ([path, { line }]) =>
        !readFileSync(path, 'utf8')
          .split('\n')
          .some((one) => words.test(one) && line.test(one)),
    );
    expect(idle).toEqual([]);
  });
});
