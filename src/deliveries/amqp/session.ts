import type { Socket } from 'node:net';
import type { AMQPChannel } from '@cloudamqp/amqp-client/amqp-channel';
import type { AMQPProperties } from '@cloudamqp/amqp-client/amqp-properties';
import { abortable } from './abortable.ts';
import type { Access, Wire } from './wire.ts';

/** What is published. */
export interface Publication {
  routingKey: string;
  body: Buffer;
  properties: AMQPProperties & { messageId: string };
}

/** No queue takes the routing key: the broker gave the message back. */
export class Unroutable extends Error {
  override readonly name = 'Unroutable';
}

/** The broker said no to this message alone. */
export class NotTaken extends Error {
  override readonly name = 'NotTaken';
}

const goodByeMs = 1_000;
/** Beside a message that is given back: its confirmation, its properties, the reason. */
const answerBytes = 8_192;

/** One connection to a broker with one channel, on which messages are confirmed one by one. */
export class Session {
  readonly #wire: Wire;
  readonly #channel: AMQPChannel;
  readonly #exchange: string;
  /** How many of the same message to the same destination the broker gave back, and nobody was told of yet. */
  readonly #returned = new Map<string, number>();
  /** How many publish on it now. */
  users = 0;
  /** It served before, so that it may have been lost at rest. */
  isUsed = false;

  private constructor(wire: Wire, channel: AMQPChannel, exchange: string) {
    this.#wire = wire;
    this.#channel = channel;
    this.#exchange = exchange;
    channel.onReturn = ({ routingKey, properties }) => {
      const key = keyOf(routingKey, properties);
      this.#returned.set(key, (this.#returned.get(key) ?? 0) + 1);
    };
  }

  /** Logs in on a socket. Whoever aborts the signal ends it. */
  static async open(access: Access, socket: Socket, signal: AbortSignal): Promise<Session> {
    // Loaded at the first delivery.
    const { Wire } = await import('./wire.ts');
    const wire = new Wire(access, socket);
    try {
      await abortable(wire.connect(), signal);
      const channel = await abortable(wire.channel(), signal);
      await abortable(channel.confirmSelect(), signal);
      return new Session(wire, channel, access.exchange);
    } catch (error) {
      wire.destroy();
      throw error;
    }
  }

  get isBroken(): boolean {
    return this.#wire.closed || this.#channel.closed;
  }

  /** Returns once the broker has it, in every queue that takes it. */
  async publish({ routingKey, body, properties }: Publication): Promise<void> {
    this.#wire.allow(body.length + answerBytes);
    try {
      await this.#channel.basicPublish(this.#exchange, routingKey, body, properties, true);
    } catch (error) {
      if (this.isBroken || this.#wire.blocked !== undefined) throw error;
      throw new NotTaken(error instanceof Error ? error.message : String(error));
    } finally {
      this.isUsed = true;
    }
    if (this.#takeReturned(keyOf(routingKey, properties))) throw new Unroutable(routingKey);
  }

  #takeReturned(key: string): boolean {
    const count = this.#returned.get(key) ?? 0;
    if (count > 1) this.#returned.set(key, count - 1);
    else this.#returned.delete(key);
    return count > 0;
  }

  destroy(): void {
    this.#wire.destroy();
  }

  /** Says good-bye, and does not wait long for the answer. */
  async end(): Promise<void> {
    const timer = setTimeout(() => this.destroy(), goodByeMs);
    await this.#wire.close().catch(() => undefined);
    clearTimeout(timer);
    this.destroy();
  }
}

/** One message may be on its way to several destinations at once, whose confirmations come together. */
function keyOf(routingKey: string, { messageId, headers }: AMQPProperties): string {
  return JSON.stringify([messageId, headers?.['destinationId'], routingKey]);
}
