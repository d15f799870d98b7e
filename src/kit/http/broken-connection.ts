import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

/** What is under way on a connection that node's parser cannot read. */
export type Breakage =
  /** A request of its own; nothing else waits for an answer. */
  | { kind: 'request' }
  /** The body of a request that was not answered yet; `before`: the answer to one before it is not given yet either. */
  | { kind: 'body'; request: IncomingMessage; response: ServerResponse; before: ServerResponse | undefined }
  /** It follows requests whose answers are on their way. */
  | { kind: 'behind'; response: ServerResponse }
  /** The body of a request whose answer has begun or is given: a second one would be taken for the next. */
  | { kind: 'answered' };

interface Asked {
  request: IncomingMessage;
  response: ServerResponse;
  /** To the request before. */
  before: ServerResponse | undefined;
}

type Listener = (...given: unknown[]) => void;

/** What node listens to on a connection, so that an answer goes on once its caller has read, and ends where the caller reads nothing. */
const flowEvents = ['drain', 'timeout'] as const;

const newest = new WeakMap<Duplex, Asked>();
const flowListeners = new WeakMap<Duplex, [event: string, listener: Listener][]>();

/** Remembers the newest request of each connection of a server, and what node listens to there. */
export function watchConnections(server: Server): void {
  const note = (request: IncomingMessage, response: ServerResponse): void => {
    const { socket } = request;
    const last = newest.get(socket);
    // It is passed from one event to another.
    if (last?.response === response) return;
    newest.set(socket, { request, response, before: isOpen(last?.response) ? last?.response : undefined });
  };
  for (const event of ['request', 'checkContinue', 'checkExpectation']) server.prependListener(event, note);
  server.on('connection', (socket: Duplex) => {
    const listened = flowEvents.flatMap((event) =>
      socket.listeners(event).map((listener): [string, Listener] => [event, listener as Listener]),
    );
    flowListeners.set(socket, listened);
  });
}

/** The answer to the newest request of a watched connection. */
export function newestOn(socket: Duplex): ServerResponse | undefined {
  return newest.get(socket)?.response;
}

/** Whether a request on a watched connection still waits for its answer, or for the rest of it. */
export function awaitsAnswer(socket: Duplex): boolean {
  return isOpen(newest.get(socket)?.response);
}

/** Tells what a parser failure on a watched connection means. */
export function breakageOn(socket: Duplex): Breakage {
  const found = newest.get(socket);
  if (!found) return { kind: 'request' };
  const { request, response, before } = found;
  if (request.complete) return isOpen(response) ? { kind: 'behind', response } : { kind: 'request' };
  const isBehind = isOpen(before);
  if (!response.headersSent) return { ...found, kind: 'body', before: isBehind ? before : undefined };
  return isBehind ? { kind: 'behind', response } : { kind: 'answered' };
}

function isOpen(response: ServerResponse | undefined): boolean {
  return response !== undefined && !response.writableFinished && !response.destroyed;
}

/**
 * Does it when every answer that the connection waits for has left; now, if there is none. For connections that node has given out of
 * hand (`connect`): it has taken its own listeners away. An error that nobody hears ends the process, and without the others an answer that is on its
 * way stands still.
 */
export function afterAnswers(socket: Duplex, work: () => void): void {
  socket.on('error', () => undefined);
  for (const [event, listener] of flowListeners.get(socket) ?? []) socket.on(event, listener);
  const { response } = newest.get(socket) ?? {};
  if (response && isOpen(response)) response.once('close', work);
  else work();
}

const ending = new WeakSet<Duplex>();

/** Ends a connection when the answers that are on their way have left. */
export function endAfter(response: ServerResponse, socket: Duplex): void {
  // A parser that has failed once fails again with every further byte.
  if (ending.has(socket)) return;
  ending.add(socket);
  response.shouldKeepAlive = false;
  response.once('close', () => socket.end(() => socket.destroy()));
}
