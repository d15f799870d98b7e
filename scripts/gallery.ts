/** `npm run embed`: a page with every state of every component, made anew when a source changes. */
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { createServer } from 'vite';
import { galleryConfig } from './gallery-config.ts';

const { values } = parseArgs({ options: { help: { type: 'boolean', short: 'h', default: false } } });
if (values.help) {
  console.log(
    'npm run embed: shows every state of the components of ui/embed in a browser, until it is stopped.\nPORT=5179 is where, on 127.0.0.1.',
  );
  process.exit(0);
}
const server = await createServer({
  ...galleryConfig,
  server: {
    port: Number(process.env['PORT'] ?? 5_179),
    host: '127.0.0.1',
    fs: { allow: [join(import.meta.dirname, '..')] },
  },
});
await server.listen();
console.log(`The states of the components: ${server.resolvedUrls?.local[0] ?? ''}`);
