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
// One file: it may be loaded without a bundler, too.
const [tokens, styles] = ['tokens.css', 'styles.css'].map((name) =>
  readFileSync(join(embed, 'src', name), 'utf8'),
);
writeFileSync(
  join(embed, 'dist/src/styles.css'),
  `${tokens}${styles?.replace("@import './tokens.css';\n", '')}`,
);
