export { deliveryRoutes } from './delivery-routes.ts';
export { destinationRoutes } from './destination-routes.ts';
export { createDeliveries, destinationFault, type Deliveries, type FoundDestination } from './deliveries.ts';
export { createDeadLetterTeller } from './dead-letters.ts';
export { createMessageKeeper, messagePartitions } from './keeper.ts';
export { cutMessages, type Envelope, type MessageEntry, type NewMessage } from './messages.ts';
export { keepMessages, messageColumns, messageParts, type StartedMessage } from './store/messages.ts';
export { sealedDestinationColumns } from './secrets.ts';
export { deliveryMetrics } from './metrics.ts';
