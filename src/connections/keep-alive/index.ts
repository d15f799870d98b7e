export { createKeepAlive, type KeepAlive } from './keep-alive.ts';
