import './problems.ts';
export { transferRoutes } from './routes.ts';
export { createTransfer, type Transfer } from './transfer.ts';
