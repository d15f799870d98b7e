import type { EventType } from '@svc/client';
import type { Tone } from '../../ui/badge.tsx';

/** What happened, in words, and whether it is good; the order is that in which they are offered. */
export const eventWords: Record<EventType, [words: string, tone: Tone]> = {
  'connection.error': ['Connection lost its credentials', 'bad'],
  'connection.created': ['Connection made', 'good'],
  'connection.updated': ['Connection changed', 'info'],
  'connection.refreshed': ['Connection got a new token', 'good'],
  'connection.deleted': ['Connection deleted', 'neutral'],
  'installation.created': ['Installed', 'good'],
  'installation.updated': ['Installation changed', 'info'],
  'installation.deleted': ['Installation deleted', 'neutral'],
  'read.backfill.done': ['History read', 'good'],
  'read.backfill.error': ['Reading of history failed', 'bad'],
  'read.triggered.done': ['Read on demand done', 'good'],
  'read.triggered.error': ['Read on demand failed', 'bad'],
  'read.schedule.paused': ['Scheduled read paused after failures', 'bad'],
  'read.waiting': ['Read waits for its destination', 'warning'],
  'write.async.done': ['Asynchronous write ended', 'info'],
  'destination.webhook.disabled': ['Destination disabled after failures', 'bad'],
  'destination.deliveries.failed': ['Deliveries failed for good', 'bad'],
};
