import type { CheckContext, Delivered, DestinationKind } from './kind.ts';
import type { DestinationRow } from './store/destinations.ts';

interface Deps {
  context: CheckContext;
}

const asked = new WeakMap<DestinationRow, Delivered | undefined>();

/**
 * Whether nothing may be sent there, since its kind would not take its metadata here: it came in from a server with other rules, or its
 * address is not named any more. Once for a row: for those that are remembered and forgotten soon.
 */
export function unfit(
  { context }: Deps,
  kind: Pick<DestinationKind, 'check'>,
  row: DestinationRow,
): Delivered | undefined {
  if (!asked.has(row)) asked.set(row, failureOf(kind, row, context));
  return asked.get(row);
}

function failureOf(
  kind: Pick<DestinationKind, 'check'>,
  { name, metadata }: DestinationRow,
  context: CheckContext,
): Delivered | undefined {
  const [fault] = kind.check(metadata, context);
  if (!fault) return undefined;
  return {
    kind: 'failed',
    error: `Nothing was sent: ${fault.name} of the destination ${name} ${fault.detail}.`,
  };
}
