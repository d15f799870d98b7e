export { createNotificationRoutes, type NotificationRoutes } from './notifications.ts';
export { notificationRoutes } from './routes.ts';
export { forgetRoutesTo } from './store.ts';
