export { proxyLogRoutes } from './routes.ts';
export { createProxyServer, type ProxyServer } from './server.ts';
