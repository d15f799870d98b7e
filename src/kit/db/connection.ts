import { Client } from 'pg';
import { noteUnconnected } from './faults.ts';

type Callback = ((error: Error) => void) | ((error: null, client: Client) => void);

/** A session at rest is asked for so often whether it is there: what forgets connections that are silent forgets none of these. */
export const keepAliveMs = 30_000;

/** A connection that the server does not give is a fault of the way there or of its state, whatever it says. */
export class Connection extends Client {
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
