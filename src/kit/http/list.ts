import type { Page } from '../paging-schema.ts';

interface ListReply {
  type(contentType: string): unknown;
  serializer(serialize: (answer: any) => string): unknown; // oxlint-disable-line typescript/no-explicit-any -- as the framework types it
  getSerializationFunction(status: string): ((payload: Record<string, unknown>) => string) | undefined;
}

/** Answers with a list or a page of it; the items of both go through the serializer of the route, which is that of the list. */
export function sendList<Item>(reply: ListReply, answer: Item[] | Page<Item>): Item[] | Page<Item> {
  if (Array.isArray(answer)) return answer;
  const listed = reply.getSerializationFunction('200') as ((items: Item[]) => string) | undefined;
  if (!listed) return answer;
  reply.type('application/json; charset=utf-8');
  reply.serializer(
    ({ results, pagination }: Page<Item>) =>
      `{"results":${listed(results)},"pagination":${JSON.stringify(pagination)}}`,
  );
  return answer;
}
