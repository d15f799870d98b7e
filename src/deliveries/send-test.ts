import { newId } from '../kit/ids.ts';
import { kindOf, openDestination, type DeliveryDeps } from './delivery-kind.ts';
import type { OutgoingMessage } from './kind.ts';
import type { DestinationTest } from './schema.ts';
import type { DestinationRow } from './store/destinations.ts';
import { unfit } from './unfit.ts';

/** Sends a message without records, once: nothing of it is kept, and nothing waits for it. */
export async function sendTest(
  deps: Pick<DeliveryDeps, 'ground' | 'kinds' | 'context'>,
  row: DestinationRow,
): Promise<DestinationTest> {
  const message = testMessageTo(row);
  const began = performance.now();
  const kind = kindOf(deps, row);
  const delivered =
    unfit(deps, kind, row) ??
    (await kind.deliver(message, openDestination(deps, row), {
      ground: deps.ground,
      signal: new AbortController().signal,
      mayStillSend: () => true,
    }));
  const base = { messageId: message.id, latencyMs: Math.round(performance.now() - began) };
  if (delivered.kind === 'unsent') return { ...base, success: false, error: 'Nothing was sent.' };
  const { status, answer } = delivered;
  return {
    ...base,
    success: delivered.kind === 'delivered',
    ...(status === undefined ? {} : { status }),
    ...(answer === undefined || answer === '' ? {} : { answer }),
    ...(delivered.kind === 'failed' ? { error: delivered.error } : {}),
  };
}

function testMessageTo(row: DestinationRow): OutgoingMessage {
  const createdAt = new Date();
  const body = {
    action: 'test',
    projectId: row.project_id,
    destinationId: row.id,
    destinationName: row.name,
    time: createdAt.toISOString(),
    resultInfo: { type: 'inline', numRecords: 0 },
    result: [],
  };
  return {
    id: newId(),
    projectId: row.project_id,
    seq: '0',
    installationId: row.id,
    groupRef: '',
    object: 'test',
    createdAt,
    records: 0,
    keys: [],
    body: async () => Buffer.from(JSON.stringify(body)),
    result: async () => Buffer.from('[]'),
    mappedFields: async () => [],
    attempt: 1,
    replay: false,
  };
}
