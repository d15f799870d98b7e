/** How a connection is. */
export const connectionStatuses = ['created', 'working', 'bad_credentials'] as const;
