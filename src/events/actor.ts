import { AsyncLocalStorage } from 'node:async_hooks';

/** Who acts, for the audit log. */
export interface Actor {
  /** `operator`: somebody with a shell on the server; `service`: nobody asked. */
  kind: 'apiKey' | 'jwt' | 'person' | 'operator' | 'service';
  /** The id of the API key, or the `kid` of the token. */
  keyId?: string;
  /** Who is signed in, with their address at that time. */
  personId?: string;
  email?: string;
  /** Whose the token is, or to which group the key is confined. */
  groupRef?: string;
  consumerRef?: string;
  address?: string;
  requestId?: string;
}

const acting = new AsyncLocalStorage<Actor>();

/** Runs the work for an actor: every entry recorded within is theirs. */
export function actAs<T>(actor: Actor, work: () => T): T {
  return acting.run(actor, work);
}

export function currentActor(): Actor {
  return acting.getStore() ?? { kind: 'service' };
}
