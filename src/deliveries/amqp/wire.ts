import type { Socket } from 'node:net';
import { AMQPBaseClient } from '@cloudamqp/amqp-client/amqp-base-client';
import { AMQPView } from '@cloudamqp/amqp-client/amqp-view';
import type { Place } from './check.ts';
import { Frames } from './frames.ts';

/** Where to, as whom. */
export interface Access extends Place {
  exchange: string;
  username: string;
  password: string;
}

const mostFrameBytes = 131_072;
const greeting = Buffer.from('AMQP\0\0\x09\x01', 'latin1');

/** The driver on a socket that is connected already. What it must not read ends the connection, and never the process. */
export class Wire extends AMQPBaseClient {
  readonly #socket: Socket;
  readonly #frames = new Frames();

  constructor({ vhost, username, password }: Access, socket: Socket) {
    super(vhost, username, password, 'svc', undefined, mostFrameBytes, 0, 1);
    this.#socket = socket;
    let fault: Error | undefined;
    socket.setNoDelay(true);
    socket.on('error', (error) => (fault = error));
    socket.on('data', (part: Buffer) => this.#read(part));
    socket.on('close', () => this.#lost(fault ?? new Error('the broker closed the connection')));
  }

  connect(): Promise<AMQPBaseClient> {
    return new Promise((resolve, reject) => {
      this.connectPromise = [resolve, reject];
      void this.send(greeting);
    });
  }

  /** A connection that is gone tells so by itself, so that nobody has to hear it here. */
  async send(bytes: Uint8Array): Promise<void> {
    if (!this.#socket.destroyed) this.#socket.write(bytes);
  }

  /** So many bytes more may come. */
  allow(bytes: number): void {
    this.#frames.allow(bytes);
  }

  destroy(error?: Error): void {
    this.#socket.destroy(error);
  }

  protected closeSocket(): void {
    this.#socket.end();
  }

  #read(part: Buffer): void {
    if (this.#socket.destroyed) return;
    try {
      for (const frame of this.#frames.take(part))
        this.parseFrames(new AMQPView(frame.buffer, frame.byteOffset, frame.length));
    } catch (error) {
      this.destroy(error instanceof Error ? error : new Error(String(error)));
    }
  }

  #lost(error: Error): void {
    this.closed = true;
    for (const channel of this.channels) channel?.setClosed(error);
    this.connectPromise?.[1](error);
    delete this.connectPromise;
    this.closePromise?.[0]();
    delete this.closePromise;
  }
}
