import { headerOf, type HttpAnswer } from '../../kit/http/client.ts';
import {
  failureOfRead,
  httpDateOf,
  type Failure,
  type ProviderClient,
  type ProviderRequest,
  type ReadAbility,
  type ReadPage,
  type ReadQuery,
} from '../../providers/index.ts';
import { sendOrExplain } from '../send.ts';

/**
 * A page, with the cursor that it was read by and the provider's time of its first answer; or why there is none. `begin`: the
 * read begins again.
 */
export type Fetched =
  | { page: ReadPage; cursor: string; answeredAt: number | undefined }
  | { failure: Failure; begin?: true };

export interface Caller {
  read: ReadAbility;
  client: ProviderClient;
  mayStillSend(): boolean;
}

/**
 * Reads the page at a cursor. An answer that is too large to be read is asked for again with fewer records, down to one; the
 * query keeps the smaller limit.
 */
export async function fetchPage(caller: Caller, query: ReadQuery, cursor: string): Promise<Fetched> {
  const { read } = caller;
  for (;;) {
    const fetched = await fetchOnce(caller, query, cursor);
    if (!('tooLarge' in fetched)) return fetched;
    const limit = Math.floor((query.limit ?? read.largestPage) / 4);
    if (limit < 1) return { failure: fetched.tooLarge };
    query.limit = limit;
  }
}

async function fetchOnce(
  caller: Caller,
  query: ReadQuery,
  cursor: string,
): Promise<Fetched | { tooLarge: Failure }> {
  const { read } = caller;
  const answers: HttpAnswer[] = [];
  let requests: readonly ProviderRequest[] = [read.build(query, cursor)];
  for (;;) {
    for (const request of requests) {
      const sent = await sendOrExplain(caller, request, () => caller.mayStillSend());
      if ('failure' in sent) return sent;
      if ('fault' in sent) {
        const failure = failureOfRead(sent.fault);
        return sent.fault.kind === 'tooLarge' ? { tooLarge: failure } : { failure };
      }
      answers.push(sent.answer);
    }
    const judged = read.judge(query, cursor, answers);
    if ('page' in judged) return { page: judged.page, cursor, answeredAt: timeOfAnswer(answers[0]) };
    if ('failure' in judged) return judged;
    requests = judged.ask;
  }
}

function timeOfAnswer(answer: HttpAnswer | undefined): number | undefined {
  return answer && httpDateOf(headerOf(answer, 'date'));
}

/** How many records there are; undefined where the provider does not say. */
export async function countOf(caller: Caller, query: ReadQuery): Promise<number | undefined> {
  const request = caller.read.buildCount(query);
  if (!request) return undefined;
  const sent = await sendOrExplain(caller, request, () => caller.mayStillSend());
  if (!('answer' in sent)) return undefined;
  const judged = caller.read.judgeCount(sent.answer);
  return 'count' in judged ? judged.count : undefined;
}
