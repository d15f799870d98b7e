import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import type { Api, Step } from './api.ts';
import type { Stage } from './processes.ts';

interface Entry {
  fields: Record<string, unknown>;
  mappedFields: Record<string, unknown>;
}

/** A builder's endpoint, open as long as the demo. */
export interface Inbox {
  /** The record with this address, once it arrived and the signature of its message is verified. */
  recordOf(email: string, withinMs: number): Promise<Entry>;
}

/** Opens a receiver on this machine and makes it the destination that examples/crm-sync/svc.yaml names. */
export async function openInbox(step: Step, api: Api, at: string): Promise<Inbox> {
  return step('open a receiver, the destination crm-updates', async () => {
    const received: { text: string; headers: Record<string, string> }[] = [];
    const server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const text = Buffer.concat(chunks).toString('utf8');
        received.push({ text, headers: request.headers as Record<string, string> });
        response.writeHead(204).end();
      });
    });
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    // It does not keep the demo from ending.
    server.unref();
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/svc`;
    const secret = await makeDestination(api, at, url);
    const webhook = new Webhook(secret);
    const inbox: Inbox = {
      async recordOf(email, withinMs) {
        const giveUpAt = Date.now() + withinMs;
        for (;;) {
          const found = received
            .flatMap(({ text, headers }) => (webhook.verify(text, headers) as { result: Entry[] }).result)
            .find(({ fields }) => fields['email'] === email);
          if (found) return found;
          if (Date.now() > giveUpAt) throw new Error(`nothing arrived within ${withinMs / 1000} s`);
          await new Promise((resolve) => setTimeout(resolve, 25));
        }
      },
    };
    return [inbox, url];
  });
}

/** The destination of an earlier demo on the same database is told the new address. */
async function makeDestination(api: Api, at: string, url: string): Promise<string> {
  const known = await api.call<{ name: string }[]>('GET', `${at}/destinations`);
  if (known.some(({ name }) => name === 'crm-updates')) {
    const change = { updateMask: ['metadata.url'], destination: { metadata: { url } } };
    await api.call('PATCH', `${at}/destinations/crm-updates`, change);
    await api.call('POST', `${at}/destinations/crm-updates:enable`);
  } else {
    await api.call('POST', `${at}/destinations`, { name: 'crm-updates', type: 'webhook', metadata: { url } });
  }
  const { secrets } = await api.call<{ secrets: { webhookSigningKey: string } }>(
    'GET',
    `${at}/destinations/crm-updates?includeSecrets=true`,
  );
  return secrets.webhookSigningKey;
}

/** Somebody edits a contact in HubSpot; what changed arrives at the receiver, mapped and signed. */
export async function deliverChange(
  step: Step,
  api: Api,
  stage: Stage,
  { projectId, groupRef, inbox }: { projectId: string; groupRef: string; inbox: Inbox },
): Promise<void> {
  const email = `edited@${groupRef}.example`;
  const since = new Date(Date.now() - 1_000).toISOString();
  await step('somebody edits a contact in HubSpot', async () => {
    const edited = await fetch(`${stage.hubspot}/__sim/data`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        object: 'contacts',
        records: [{ properties: { email, mobilephone: '+41 31 111 11 11' } }],
      }),
    });
    const { ids } = (await edited.json()) as { ids: string[] };
    return [ids, `record ${ids.join(', ')}`];
  });
  await step('read what changed, now instead of at the next tick', async () => {
    const path = `/read/v1/projects/${projectId}/integrations/hubspot-crm/objects/contacts`;
    const asked = await api.call<{ operationId: string }>('POST', path, {
      groupRef,
      mode: 'async',
      sinceTimestamp: since,
    });
    return [asked, `operation ${asked.operationId}`];
  });
  await step('it arrives at the receiver, mapped and signed', async () => {
    const { fields, mappedFields } = await inbox.recordOf(email, 20_000);
    return [fields, JSON.stringify({ fields, mappedFields })];
  });
}
