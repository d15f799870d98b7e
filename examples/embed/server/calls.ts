import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Svc } from '@svc/client';
import { isPerson, people, type PersonName } from './people.ts';
import type { Ready } from './setup.ts';
import type { Subscribers } from './subscribers.ts';

export interface Answer {
  status: number;
  body?: unknown;
  cookie?: string;
}
type Call = (request: IncomingMessage, person: PersonName) => Promise<Answer>;

/** What the page may call once somebody has signed in, by method and path. */
export function callsOf(
  svc: Svc,
  svcUrl: string,
  subscribers: Subscribers,
  ready: () => Ready,
): Record<string, Call> {
  return {
    'GET /api/me': async (_request, person) => ({
      status: 200,
      body: { ...people[person], consumerRef: person, svcUrl, project: svc.project },
    }),
    // The group is that of the session, whatever the page asks for.
    'POST /api/svc-token': async (_request, person) => ({
      status: 200,
      body: await ready().signToken(people[person].groupRef, person),
    }),
    'GET /api/subscribers': async (_request, person) => ({
      status: 200,
      body: subscribers.list(people[person].groupRef),
    }),
    'POST /api/mails': async (request, person) => {
      const { id, subject } = (await jsonOf(request)) as { id: string; subject: string };
      const { groupRef } = people[person];
      await svc.write({
        integration: 'hubspot',
        object: 'contacts',
        groupRef,
        type: 'update',
        // In the customer's HubSpot this is the field that the customer chose for it.
        record: { id, lastMail: subject },
      });
      subscribers.mailed(groupRef, id, subject);
      return { status: 204 };
    },
  };
}

/** Who has signed in, by the cookie. */
export class Sessions {
  readonly #sessions = new Map<string, PersonName>();

  async signIn(request: IncomingMessage): Promise<Answer> {
    const { name } = (await jsonOf(request)) as { name: string };
    if (!isPerson(name)) return { status: 401 };
    const session = randomUUID();
    this.#sessions.set(session, name);
    return { status: 204, cookie: `session=${session}; Path=/; HttpOnly; SameSite=Lax` };
  }

  personOf({ headers }: IncomingMessage): PersonName | undefined {
    return this.#sessions.get(/(?:^|; )session=([\w-]+)/.exec(headers.cookie ?? '')?.[1] ?? '');
  }
}

export async function bytesOf(request: IncomingMessage): Promise<Buffer> {
  return Buffer.concat(await request.toArray());
}

async function jsonOf(request: IncomingMessage): Promise<unknown> {
  return JSON.parse((await bytesOf(request)).toString());
}
