/** `npm run embed`: a page with every state of every component, made anew when a source changes. */
import { join } from 'node:path';
import { createServer } from 'vite';
import { galleryConfig } from './gallery-config.ts';

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
