import { join } from 'node:path';
import type { InlineConfig } from 'vite';

const root = join(import.meta.dirname, '..');

/** How the page of states is made, to be looked at and to be tested. */
export const galleryConfig = {
  root: join(root, 'ui/embed/gallery'),
  configFile: false,
  logLevel: 'error',
  // Whatever the environment of who makes it is.
  esbuild: { jsx: 'automatic', jsxDev: false },
  resolve: { alias: { '@svc/client': join(root, 'ui/client/src/index.ts') } },
} satisfies InlineConfig;
