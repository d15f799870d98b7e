import type { Settlement, StoredOutcome } from '../../../operations/index.ts';

const unstorable = 'the text of the failure could not be stored';

/**
 * The same end with less in it, for a database that refuses a value of it: first without words from outside, then without
 * the ids of records, too. What became of each record stays. Undefined: nothing can be left out any more. Pure.
 */
export function plainer(settlement: Settlement): Settlement | undefined {
  const { answer: _answer, ...bare } = settlement;
  const spoken = settlement.errors.some(({ message }) => message !== unstorable);
  if (spoken || settlement.answer) return withoutWords(bare);
  return settlement.outcomes.some(hasId)
    ? { ...bare, outcomes: settlement.outcomes.map(withoutId) }
    : undefined;
}

type Outcomes = Settlement['outcomes'];

function withoutWords(settlement: Settlement): Settlement {
  const { result, errors, outcomes, log } = settlement;
  const said = errors[0]?.message;
  const spoken = (text: string): string => (said ? text.replaceAll(said, () => unstorable) : text);
  return {
    ...settlement,
    result: result === null ? null : spoken(result),
    errors: errors.map(withoutMessage),
    outcomes: outcomes.map(({ index, outcome }) => ({ index, outcome: quiet(outcome) })),
    ...(log
      ? {
          log: {
            ...log,
            message: {
              ...log.message,
              msg: spoken(log.message.msg),
              ...(log.message.error === undefined ? {} : { error: unstorable }),
            },
          },
        }
      : {}),
  };
}

function quiet(outcome: StoredOutcome): StoredOutcome {
  return outcome.kind === 'applied' ? outcome : { ...outcome, failure: withoutMessage(outcome.failure) };
}

/** `provider` holds what the provider said. */
function withoutMessage<Said extends { message: string; provider?: unknown }>(failure: Said): Said {
  const { provider: _provider, ...rest } = failure;
  return { ...(rest as Said), message: unstorable };
}

function hasId({ outcome }: Outcomes[number]): boolean {
  return outcome.kind === 'applied' && outcome.recordId !== undefined;
}

function withoutId(one: Outcomes[number]): Outcomes[number] {
  if (one.outcome.kind !== 'applied') return one;
  const { recordId: _recordId, ...outcome } = one.outcome;
  return { ...one, outcome };
}
