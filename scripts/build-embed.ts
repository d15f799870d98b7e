/** Builds `ui/embed` as the package that is published. */
import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const embed = join(root, 'ui/embed');
const tsc = join(root, 'node_modules/typescript/bin/tsc');
execFileSync(process.execPath, [tsc, '-p', 'ui/client/tsconfig.build.json'], {
  cwd: root,
  stdio: 'inherit',
});
rmSync(join(embed, 'dist/src'), { recursive: true, force: true });
execFileSync(process.execPath, [tsc, '-p', 'ui/embed/tsconfig.build.json'], {
  cwd: root,
  stdio: 'inherit',
});
writeEntries();

/**
 * The files that are imported from outside. Frameworks that render on a server stop at their first line and leave the rest to the browser;
 * where a server imports them all the same, React has none of the hooks, and each name says so when it is used.
 */
function writeEntries(): void {
  const folder = join(embed, 'dist/src');
  const entries = { all: 'index.js', hooks: 'hooks/index.js' };
  const namesIn = (file: string): string[] =>
    [...readFileSync(join(folder, file), 'utf8').matchAll(/^export \{([^}]*)\}/gm)]
      .flatMap(([, names = '']) => names.split(','))
      .map((name) => name.trim())
      .filter(Boolean);
  for (const [name, file] of Object.entries(entries))
    writeFileSync(
      join(folder, `client-${name}.js`),
      `'use client';\nexport { ${namesIn(file).join(', ')} } from '#${name}';\n`,
    );
  const absent = namesIn(entries.all).map((name) => `export const ${name} = absent('${name}');`);
  writeFileSync(
    join(folder, 'absent.js'),
    `const absent = (name) => () => {
  throw new Error(name + " of @svc/embed runs in a browser: use it in a file that begins with 'use client'");
};
${absent.join('\n')}
`,
  );
}

// One file: it may be loaded without a bundler, too.
const [tokens, styles] = ['tokens.css', 'styles.css'].map((name) =>
  readFileSync(join(embed, 'src', name), 'utf8'),
);
writeFileSync(
  join(embed, 'dist/src/styles.css'),
  `${tokens}${styles?.replace("@import './tokens.css';\n", '')}`,
);
// TypeScript takes no import without types, though only the bundler reads the file.
writeFileSync(join(embed, 'dist/src/styles.css.d.ts'), 'export {};\n');
