import { createHmac } from 'node:crypto';
import { Agent } from 'undici';
import { newId } from '../src/kit/ids.ts';
import { contactOf, entryOf, fields, mapped, type ListedContact } from './contacts.ts';
import type { Actions } from './install.ts';
import { startProvider } from './provider.ts';
import { startReceiver, type Receiver } from './receiver.ts';
import { startServer, startStage, type Stage } from './stage.ts';

/** The product with an installation that reads contacts, a provider that has them, and a receiver. */
export interface ReadStage {
  stage: Stage;
  receiver: Receiver;
  /** Reads so many contacts into the receiver; answers with how many a second. */
  read: (contacts: number) => Promise<number>;
  /** The same by a bare loop: page after page, each posted before the next one is asked for. */
  readBare: (contacts: number) => Promise<number>;
  close: () => Promise<void>;
}

const object = 'contacts';
const perPage = 100;
const signingKey = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

const actions: Actions = {
  manifest: {
    read: {
      objects: [
        {
          objectName: object,
          destination: 'inbox',
          requiredFields: [
            ...fields.map((fieldName) => ({ fieldName })),
            ...Object.entries(mapped).map(([mapToName, fieldName]) => ({ fieldName, mapToName })),
          ],
        },
      ],
    },
  },
  config: { read: { objects: { [object]: { objectName: object } } } },
};

export async function startReads(): Promise<ReadStage> {
  const provider = await startProvider(1);
  const [group] = provider.groups;
  const { accessToken = '' } = group ?? {};
  await provider.put(
    object,
    Array.from({ length: perPage }, (_, n) => contactOf(n)),
  );
  const source = await startServer('contacts.ts', provider.origin);
  const receiver = await startReceiver(1);
  const [url = ''] = receiver.urls;
  const origin = `http://127.0.0.1:${source.port}`;
  const stage = await startStage(origin, { actions, groups: provider.groups });
  const { call, projectId } = stage;
  const at = `/projects/${projectId}`;
  await call('POST', `/v1${at}/destinations`, {
    name: 'inbox',
    type: 'webhook',
    metadata: { url },
    secrets: { webhookSigningKey: signingKey },
  });
  const prepare = async (contacts: number): Promise<number> => {
    await fetch(`${origin}/__bench`, { method: 'POST', body: String(contacts) });
    await receiver.reset();
    return Math.ceil(contacts / perPage);
  };
  return {
    stage,
    receiver,
    async read(contacts) {
      const messages = await prepare(contacts);
      const startedAt = Date.now();
      const { operationId } = await call<{ operationId: string }>(
        'POST',
        `/read/v1${at}/integrations/crm/objects/${object}`,
        { groupRef: group?.groupRef, mode: 'async' },
      );
      const { lastAt } = await receiver.until(messages);
      await untilDelivered(stage, operationId, contacts);
      return contacts / ((lastAt - startedAt) / 1000);
    },
    async readBare(contacts) {
      await prepare(contacts);
      return contacts / (await bareLoop({ origin, url, accessToken }));
    },
    async close() {
      await stage.close();
      await Promise.all([source.close(), receiver.close(), provider.close()]);
    },
  };
}

/** Throws unless each of the records is counted as delivered. */
async function untilDelivered({ call, projectId }: Stage, id: string, records: number): Promise<void> {
  for (const giveUpAt = Date.now() + 10_000; ;) {
    const operation = await call<Operation>('GET', `/v1/projects/${projectId}/operations/${id}`);
    const { delivered = 0 } = operation.metadata.read ?? {};
    if (operation.status === 'success' && delivered === records) return;
    if (operation.status === 'failure' || Date.now() > giveUpAt)
      throw new Error(`${delivered} of ${records} records were delivered: ${JSON.stringify(operation)}`);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}

interface Operation {
  status: string;
  metadata: { read?: { delivered: number } };
}

interface Loop {
  origin: string;
  url: string;
  accessToken: string;
}

interface ListedPage {
  results: ListedContact[];
  paging?: { next?: { after: string } };
}

/** Seconds until every page was posted. */
async function bareLoop({ origin, url, accessToken }: Loop): Promise<number> {
  const agent = new Agent();
  const { pathname: path, origin: to } = new URL(url);
  const secret = Buffer.from(signingKey.slice('whsec_'.length), 'base64');
  const properties = [...fields, 'lastmodifieddate'].join(',');
  const startedAt = performance.now();
  for (let after: string | undefined = ''; after !== undefined;) {
    const query = new URLSearchParams({ limit: String(perPage), properties, ...(after ? { after } : {}) });
    const page = await agent.request({
      origin,
      path: `/crm/v3/objects/${object}?${query.toString()}`,
      method: 'GET',
      headers: { authorization: `Bearer ${accessToken}` },
    });
    const { results, paging } = JSON.parse(await page.body.text()) as ListedPage;
    const id = newId();
    const body = Buffer.from(
      JSON.stringify({ action: 'read', objectName: object, result: results.map(entryOf) }),
    );
    const signature = createHmac('sha256', secret)
      .update(`${id}.${startedAt}.`)
      .update(body)
      .digest('base64');
    const headers = {
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-signature': `v1,${signature}`,
    };
    const answer = await agent.request({ origin: to, path, method: 'POST', headers, body });
    await answer.body.dump();
    if (answer.statusCode !== 204) throw new Error(`the receiver answered ${answer.statusCode}`);
    after = paging?.next?.after;
  }
  const seconds = (performance.now() - startedAt) / 1000;
  await agent.close();
  return seconds;
}
