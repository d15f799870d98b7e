export { createProxyServer } from './server.ts';
