/** What became of a delivery. */
export const deliveryStatuses = ['pending', 'delivered', 'failed', 'canceled'] as const;
