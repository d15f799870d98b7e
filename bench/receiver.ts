import { startServer } from './stage.ts';

/** What came to a receiver. */
export interface Received {
  /** When the last of the messages came, by the clock of the machine. */
  lastAt: number;
  /** Of each message from its making, in milliseconds. */
  tookMs: number[];
}

/** Endpoints that take webhooks, in a process of their own. */
export interface Receiver {
  urls: string[];
  /** Begins anew; those at these places of `urls` do not answer any more, and with `live` what is replayed does not count. */
  reset: (how?: { hanging?: readonly number[]; live?: boolean }) => Promise<void>;
  /** Resolves when so many different messages came to the others. */
  until: (messages: number) => Promise<Received>;
  close: () => Promise<void>;
}

export async function startReceiver(endpoints: number): Promise<Receiver> {
  const { port, ports, close } = await startServer('receiver.ts', String(endpoints));
  const control = `http://127.0.0.1:${port}/__bench`;
  return {
    urls: ports.map((one) => `http://127.0.0.1:${one}/`),
    async reset({ hanging = [], live = false } = {}) {
      const body = JSON.stringify({ hanging: hanging.map((at) => ports[at]), live });
      await fetch(control, { method: 'POST', body });
    },
    async until(messages) {
      const answer = await fetch(`${control}?messages=${messages}`);
      return (await answer.json()) as Received;
    },
    close,
  };
}
