import { Webhook } from 'standardwebhooks';
import { Value } from 'typebox/value';
import { startReceiver, type Receiver } from '../src/deliveries/harness.fixture.ts';
import { eventKinds, type EventType } from '../src/events/index.ts';
import type { Platform } from './platform.ts';

export interface Notification {
  id: string;
  notificationType: EventType;
  data: Record<string, unknown>;
}

/** A builder's endpoint for notifications. */
export interface Notified {
  receiver: Receiver;
  destinationId: string;
  /** What came, each once, after every check that a receiver would make of it. Throws for what does not pass. */
  told(type?: EventType): Notification[];
  /** Waits for one that fits. */
  until(type: EventType, fits?: (data: Record<string, unknown>) => boolean): Promise<Notification>;
}

/** A webhook that is told of these events by the shorthand. */
export async function openNotified(
  platform: Platform,
  name: string,
  eventTypes: readonly EventType[],
): Promise<Notified> {
  const base = `/projects/${platform.projectId}`;
  const receiver = await startReceiver();
  const made = await platform.call<{ id: string }>('POST', `${base}/destinations`, {
    name,
    type: 'webhook',
    metadata: { url: receiver.url },
  });
  const { id } = made.body;
  const routed = await platform.call('PUT', `${base}/notifications`, {
    routes: [{ eventTypes, destination: name }],
  });
  if (routed.status !== 200) throw new Error(`${routed.status} ${routed.text}`);
  const shown = await platform.call<{ secrets: { webhookSigningKey: string } }>(
    'GET',
    `${base}/destinations/${id}?includeSecrets=true`,
  );
  const webhook = new Webhook(shown.body.secrets.webhookSigningKey);
  const told = (type?: EventType): Notification[] => {
    const all = receiver.received.map(({ headers, body }) => checked(webhook, headers, body));
    const once = new Map(all.map((one) => [one.id, one]));
    return [...once.values()].filter(({ notificationType }) => !type || notificationType === type);
  };
  return {
    receiver,
    destinationId: id,
    told,
    async until(type, fits = () => true) {
      const giveUpAt = Date.now() + 20_000;
      for (;;) {
        const found = told(type).find(({ data }) => fits(data));
        if (found) return found;
        if (Date.now() > giveUpAt) {
          const seen = told().map(({ notificationType }) => notificationType);
          throw new Error(`no ${type} within 20 s, but ${seen.join(', ')}; ${platform.said()}`);
        }
        await new Promise((resolve) => setTimeout(resolve, 25));
      }
    },
  };
}

function checked(webhook: Webhook, headers: Record<string, unknown>, body: string): Notification {
  const { notificationType, data, ...rest } = webhook.verify(
    body,
    headers as Record<string, string>,
  ) as Notification;
  if (headers['webhook-event-type'] !== notificationType)
    throw new Error(`the header says ${String(headers['webhook-event-type'])}, the body ${notificationType}`);
  const faults = [...Value.Errors(eventKinds[notificationType].data, data)];
  if (faults.length > 0 || Object.keys(rest).length > 0)
    throw new Error(`${body} is no ${notificationType}: ${JSON.stringify(faults)}`);
  return { id: String(headers['webhook-id']), notificationType, data };
}
