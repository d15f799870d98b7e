/** A queue with its workers running, whose items do nothing. */
export interface QueuePeer {
  /** Resolves once the item and its operation row are committed. `n` counts the items. */
  enqueue(n: number): Promise<void>;
  /** Items whose handler has run. */
  done(): Promise<number>;
  /** Whether the queue itself knows that all of them are done. */
  settled(): Promise<boolean>;
  close(): Promise<void>;
}
