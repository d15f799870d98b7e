import type { HttpAnswer } from '../kit/http/client.ts';
import type { ProviderClient, ProviderRequest, ReadAbility, ReadQuery } from './connector.ts';
import { failureOfRead, type Failure } from './failure.ts';
import { knownFields } from './read.ts';

/**
 * Reads one record as a read would, to see that the object and its filters exist, and can be read, before a config is saved.
 * Undefined where it can be read.
 */
export async function sampleRead(
  read: ReadAbility,
  client: ProviderClient,
  { object, fields, filters }: Pick<ReadQuery, 'object' | 'fields' | 'filters'>,
): Promise<Failure | undefined> {
  // Reads leave out what does not exist. The record's own id is read as a field, too.
  const known = fields.filter((name) => name === 'id' || knownFields(object, [name]).length > 0);
  const query: ReadQuery = {
    object,
    fields: known,
    filters,
    until: Date.now(),
    deleted: false,
    limit: 1,
  };
  const refused = read.refusal(query);
  if (refused) return refused;
  const cursor = read.begin(query, false);
  const sent = await sendAll(client, [read.build(query, cursor)]);
  if ('failure' in sent) return sent.failure;
  const judged = read.judge(query, cursor, sent.answers);
  if ('failure' in judged) return judged.failure;
  if ('page' in judged) return undefined;
  const asked = await sendAll(client, judged.ask);
  if ('failure' in asked) return asked.failure;
  const whole = read.judge(query, cursor, [...sent.answers, ...asked.answers]);
  return 'failure' in whole ? whole.failure : undefined;
}

async function sendAll(
  client: ProviderClient,
  requests: readonly ProviderRequest[],
): Promise<{ answers: HttpAnswer[] } | { failure: Failure }> {
  const answers: HttpAnswer[] = [];
  for (const request of requests) {
    const result = await client.send(request);
    if ('fault' in result) return { failure: failureOfRead(result.fault) };
    answers.push(result.answer);
  }
  return { answers };
}
