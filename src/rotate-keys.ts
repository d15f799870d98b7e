import type { Config } from './config.ts';
import { sealedConnectionColumns } from './connections/index.ts';
import { openDatabase } from './kit/db/database.ts';
import { otherKeyInUse, retireOtherKeys } from './kit/key-check.ts';
import { rotateKeys, type Rotation } from './kit/rotation.ts';
import { createVault } from './kit/vault.ts';
import { masterKeysOf } from './master-keys.ts';
import { sealedDestinationColumns } from './deliveries/index.ts';
import { sealedPeopleColumns } from './people/index.ts';
import { sealedProjectColumns } from './projects/index.ts';

/** The role `master-keys rotate`: everything sealed comes under the first master key. True when the other keys may be taken away. */
export async function rotateAllKeys(
  config: Config,
  url: string,
  say: (line: string) => void,
): Promise<boolean> {
  const database = openDatabase({ url, poolSize: 2, applicationName: 'svc master-keys rotate' });
  try {
    const vault = createVault(await masterKeysOf(config, database));
    const columns = [
      ...sealedConnectionColumns,
      ...sealedProjectColumns,
      ...sealedPeopleColumns,
      ...sealedDestinationColumns,
    ];
    const used = await otherKeyInUse(database, vault, (keyId) =>
      say(
        `A node sealed under the key ${keyId} a moment ago: looking for some seconds whether one still does.`,
      ),
    );
    if (used !== undefined) {
      say(
        `A node that runs seals under the key ${used}. Put ${vault.activeKeyId} first on every node and leave ${used} behind it, restart them, and run this again; nothing was changed.`,
      );
      return false;
    }
    const rotation = await rotateKeys(database, vault, columns, sparingly(say));
    for (const line of describeRotation(rotation, vault.activeKeyId)) say(line);
    const isOver = rotation.isDone && rotation.shut.length === 0;
    if (isOver) await retireOtherKeys(database, vault);
    return isOver;
  } finally {
    await database.close();
  }
}

/** One line of progress in two seconds is enough. */
function sparingly(say: (line: string) => void): (line: string) => void {
  let saidAt = performance.now();
  return (line) => {
    if (performance.now() - saidAt < 2_000) return;
    saidAt = performance.now();
    say(line);
  };
}

/** The report for the operator: counts by key, values that no key opens, and what to do next. */
export function describeRotation({ rewrapped, kept, shut, isDone }: Rotation, activeKeyId: string): string[] {
  const left = kept.filter(({ keyId }) => keyId !== activeKeyId);
  return [
    `${rewrapped} values are now under the key ${activeKeyId}.`,
    ...kept.map(({ column, keyId, count }) => `  ${column}: ${count} under ${keyId}`),
    ...shut.map(
      ({ column, projectId, rowId, reason }) =>
        `  shut: ${column} of project ${projectId}, row ${rowId}: ${reason}`,
    ),
    isDone
      ? 'Nothing is under another key: the others may be taken out of SVC_ENCRYPTION_KEYS (or of the file encryption-keys in SVC_DATA_DIR).'
      : `Keep the keys ${[...new Set(left.map(({ keyId }) => keyId))].join(', ')}, and run this again ${
          shut.length > 0
            ? 'when the values above are mended or gone.'
            : 'when every node has the new key first.'
        }`,
  ];
}
