import { Client } from '@hubspot/api-client';
import { afterAll, beforeAll } from 'vitest';
import { startHubspot } from './index.ts';
import type { HubspotStartOptions } from './index.ts';

/** JSON whose shape the assertions check. */
export type Loose = { [name: string]: Loose };
export type Answer = { status: number; headers: Headers; body: Loose; text: string };

/** A running simulator for the tests of one file, with a token for everything. */
export type Harness = {
  url: string;
  token: string;
  client: Client;
  /** A call with the token, JSON in and out. */
  api: (method: string, path: string, body?: unknown, token?: string) => Promise<Answer>;
  /** A call of the control API; throws unless it answers 200. */
  sim: (method: string, path: string, body?: unknown) => Promise<Loose>;
  form: (path: string, values: Record<string, string>) => Promise<Answer>;
};

export async function send(url: string, init: RequestInit = {}): Promise<Answer> {
  const response = await fetch(url, { redirect: 'manual', ...init });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.includes('application/json') && text !== '';
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: isJson ? JSON.parse(text) : undefined,
  };
}

/** Starts a simulator before the tests of a describe block and stops it after them. */
export function useHubspot(options: HubspotStartOptions = {}): Harness {
  const harness = {} as Harness;
  let stop = async (): Promise<void> => undefined;
  beforeAll(async () => {
    const running = await startHubspot(options);
    stop = running.close;
    const sim: Harness['sim'] = async (method, path, body) => {
      const answer = await send(`${running.url}/__sim${path}`, { method, ...json(body) });
      if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${answer.text}`);
      return answer.body;
    };
    const issued = await sim('POST', '/tokens', { action: 'issue' });
    const accessToken = str(issued['accessToken']);
    await sim('POST', '/quotas', { burstMax: null, searchPerSecond: null });
    Object.assign(harness, {
      url: running.url,
      token: accessToken,
      client: new Client({ accessToken, basePath: running.url }),
      sim,
      api: (method: string, path: string, body?: unknown, token = accessToken) =>
        send(`${running.url}${path}`, {
          method,
          body: body === undefined ? null : JSON.stringify(body),
          headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        }),
      form: (path: string, values: Record<string, string>) =>
        send(`${running.url}${path}`, { method: 'POST', body: new URLSearchParams(values) }),
    });
  });
  afterAll(() => stop());
  return harness;
}

/** A string or number inside a loose body, as text. */
export function str(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

/** An array inside a loose body. */
export function listOf(value: Loose | undefined): Loose[] {
  return Array.isArray(value) ? (value as Loose[]) : [];
}

function json(body: unknown): RequestInit {
  return body === undefined ? {} : { body: JSON.stringify(body) };
}
