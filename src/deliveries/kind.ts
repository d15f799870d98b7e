import type { TObject } from 'typebox';
import type { EventType } from '../events/index.ts';
import type { Ground } from '../kit/ground.ts';
import type { Issue } from '../kit/problem.ts';

/** The record that an entry of a message is of. */
export interface RecordKey {
  id: string;
  /** Of two versions of one record the greater is the newer, where the provider has such; otherwise empty. */
  version: string;
  deleted: boolean;
}

/** Names the records of an object as they are delivered. */
export type MessageObject = Pick<OutgoingMessage, 'projectId' | 'installationId' | 'object'>;

/** A message on its way to a destination. */
export interface OutgoingMessage {
  id: string;
  projectId: string;
  /** Of two messages the one accepted later has the greater. */
  seq: string;
  /** Empty, as the next two, where a notification concerns none. */
  installationId: string;
  groupRef: string;
  object: string;
  createdAt: Date;
  /** How many it holds; 0 for a test. */
  records: number;
  /** For each record, in their order. */
  readonly keys: readonly RecordKey[];
  /** The same bytes at every attempt. */
  body(): Promise<Buffer>;
  /**
   * The records as JSON, one array, also where the body only links to them. With the body it is the `result` of an inline message.
   */
  result(): Promise<Buffer>;
  /** The members of `mappedFields` that records of the object may have now, whether these have them or not. */
  mappedFields(): Promise<readonly string[]>;
  /** From 1. */
  attempt: number;
  /** It is sent again because somebody asked for it. */
  replay: boolean;
  /** It holds no records: its body is `{notificationType, data}` (`sentenceOf` says it in words). */
  notificationType?: EventType | undefined;
}

/** A destination with its secrets opened. */
export interface OpenDestination<Metadata extends object = object, Secrets extends object = object> {
  id: string;
  projectId: string;
  name: string;
  metadata: Metadata;
  secrets: Secrets;
  /** The ones before rotations, while they are still good. */
  formerSecrets?: readonly Secrets[] | undefined;
}

export interface DeliveryContext {
  ground: Ground;
  /** Aborted when nobody records the outcome any more. */
  signal: AbortSignal;
  /** To be asked right before the first byte: false means do not begin. */
  mayStillSend: () => boolean;
}

/** What became of one attempt. Nothing is thrown. */
export type Delivered =
  | { kind: 'delivered'; status?: number | undefined; answer?: string | undefined }
  | {
      kind: 'failed';
      /** A sentence for the builder, with what to do about it; no secret in it. */
      error: string;
      status?: number | undefined;
      /** The beginning of what was answered. */
      answer?: string | undefined;
      /** The other side said nothing at all: others of its share rest, too. */
      silent?: boolean;
      /** The other side asked to wait. */
      retryAfterMs?: number | undefined;
      /** The destination is disabled for this reason. */
      disable?: string | undefined;
      /** No later attempt can succeed. */
      final?: true | undefined;
    }
  /** Nothing left this process. */
  | { kind: 'unsent' };

/** What the checks of a kind depend on beside the metadata. */
export interface CheckContext {
  /** Data of customers: nothing leaves in the clear. */
  production: boolean;
  /** Whether the operator allows this address by its name, such as one of the own network. */
  isAllowed: (host: string, port: number) => boolean;
}

/** What a kind is called and asks for. What does not fit the shapes is refused with its path. Closed objects. */
export interface KindShape {
  readonly type: string;
  readonly metadata: TObject;
  readonly secrets: TObject;
  /** Only records can be kept there: no notification is routed to it. */
  readonly recordsOnly?: true;
}

/** What a process gives to its kinds. */
export interface KindOptions {
  /** Where destinations of this process may write files; undefined in production. */
  filesFolder?: string | undefined;
}

/** A line of `kinds.ts`. */
export interface DeclaredKind extends KindShape {
  create(options: KindOptions): DestinationKind;
  /** The metadata for whoever may see no secrets, where it holds some. */
  withoutSecrets?(metadata: Record<string, unknown>): Record<string, unknown>;
}

/** A kind of destination: one folder, and one line in `kinds.ts`. */
export interface DestinationKind<
  Metadata extends object = object,
  Secrets extends object = object,
> extends KindShape {
  /** What the shape cannot say; names are paths such as `metadata.url`. */
  check(metadata: Metadata, context: CheckContext): Issue[];
  /** Secrets of our making: at the creation and at a rotation. */
  generate?(): Secrets;
  /** Each of its deliveries takes a connection for itself while it lasts. */
  readonly connectsEach?: true;
  /** What its deliveries stand or fall together with, such as an origin. */
  shareOf(metadata: Metadata): string;
  deliver(
    message: OutgoingMessage,
    destination: OpenDestination<Metadata, Secrets>,
    context: DeliveryContext,
  ): Promise<Delivered>;
  /** Of what it keeps open. */
  close?(): Promise<void>;
}
