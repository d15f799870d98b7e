import { Client, type ClientConfig } from 'pg';
import { noteUnconnected } from './faults.ts';

type Callback = ((error: Error) => void) | ((error: null, client: Client) => void);

/** A session at rest is asked for so often whether it is there: what forgets connections that are silent forgets none of these. */
export const keepAliveMs = 30_000;

/**
 * A connection that the server does not give is a fault of the way there or of its state, whatever it says. One that ends fails what is asked
 * on it; without a listener it would end the process, too, also before whoever asked for it has it in hand.
 */
export class Connection extends Client {
  constructor(config?: ClientConfig) {
    super(config);
    this.on('error', () => undefined);
  }

  override connect(): Promise<Client>;
  override connect(callback: Callback): void;
  override connect(callback?: Callback): Promise<Client> | void {
    if (!callback)
      return super.connect().catch((error: unknown) => {
        noteUnconnected(error);
        throw error;
      });
    super.connect((error: Error) => {
      noteUnconnected(error);
      (callback as (error: Error, client: Client) => void)(error, this);
    });
  }
}
