/** How an installation does. */
export const healthStatuses = ['healthy', 'unhealthy'] as const;
