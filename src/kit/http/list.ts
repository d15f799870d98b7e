import { Readable } from 'node:stream';
import type { Page } from '../paging-schema.ts';
import type { Listed } from '../paging.ts';

interface ListReply {
  type(contentType: string): unknown;
  serializer(serialize: (answer: any) => string): unknown; // oxlint-disable-line typescript/no-explicit-any -- as the framework types it
  getSerializationFunction(status: string): ((payload: Record<string, unknown>) => string) | undefined;
}

/** Answers with a list, a page of it, or its parts; the items of all go through the serializer of the route, which is that of the list. */
export function sendList<Item>(reply: ListReply, answer: Exclude<Listed<Item>, Page<Item>>): Item[];
export function sendList<Item>(reply: ListReply, answer: Listed<Item>): Item[] | Page<Item>;
export function sendList<Item>(reply: ListReply, answer: Listed<Item>): Item[] | Page<Item> {
  if (Array.isArray(answer)) return answer;
  const listed = reply.getSerializationFunction('200') as ((items: Item[]) => string) | undefined;
  if (!listed) throw new Error('the route has no schema of its list');
  reply.type('application/json; charset=utf-8');
  // The framework sends a stream as it is.
  if (!('results' in answer)) return Readable.from(joined(answer, listed), { objectMode: false }) as never;
  reply.serializer(
    ({ results, pagination }: Page<Item>) =>
      `{"results":${listed(results)},"pagination":${JSON.stringify(pagination)}}`,
  );
  return answer;
}

/** The next part is read when this one was taken. */
async function* joined<Item>(
  parts: AsyncIterable<Item[]>,
  listed: (items: Item[]) => string,
): AsyncGenerator<string> {
  let before = '[';
  for await (const part of parts) {
    yield before + listed(part).slice(1, -1);
    before = ',';
  }
  yield ']';
}
