import { doubtWrites, type Doubted } from './actions/write/index.ts';
import { countLapsedTokens } from './connections/index.ts';
import { raiseMessageNumbers } from './deliveries/index.ts';
import { openDatabase, type Queryable } from './kit/db/database.ts';
import { acceptDatabase, holdDatabase, judgeLineage, readLineageOf } from './kit/db/lineage.ts';
import type { Logger } from './kit/log.ts';
import { createMetrics } from './kit/metrics.ts';

type Say = (line: string) => void;

/** The role `restore hold`: no node begins to work with the database until `restore resume`; one that runs ends when it looks. */
export async function holdRestored(url: string, name: string, say: Say): Promise<void> {
  const database = openDatabase({ url, poolSize: 1, applicationName: 'svc restore hold' });
  try {
    await holdDatabase(database, 'its operator said so');
    say(
      `No node begins to work with ${name} until you run svc restore resume. Nodes that run work on for some seconds, then they end: stop them before you hold it.`,
    );
  } finally {
    await database.close();
  }
}

/** The role `restore resume`: what was unfinished becomes doubtful, and the nodes go on. `nothingLost`: it stays as it is. */
export async function resumeRestored(
  {
    url,
    name,
    nothingLost,
    failoverMs,
  }: { url: string; name: string; nothingLost: boolean; failoverMs: number },
  log: Logger,
  say: Say,
): Promise<void> {
  const database = openDatabase({ url, poolSize: 2, applicationName: 'svc restore resume' });
  try {
    const seen = await readLineageOf(database);
    const verdict = judgeLineage(seen, { failoverMs });
    if ('recovering' in verdict)
      throw new Error(
        `the server of ${name} is in recovery, and takes no changes; run svc restore resume once it is promoted`,
      );
    if (seen.lineage && !('held' in verdict))
      throw new Error(
        `${name} is not held, and is the one that the nodes worked with last; nothing was changed. If it was restored all the same (a copy of files or of a volume), run svc restore hold first`,
      );
    // Held first, for a database that nobody has recognised; and until the end, so that a second run goes on after a kill.
    await holdDatabase(database, 'svc restore resume has not ended');
    if (!nothingLost) {
      const doubted = await doubtWrites({ database, log, metrics: createMetrics() });
      for (const line of describe(doubted, await countLapsedTokens(database))) say(line);
    }
    await raiseMessageNumbers(database);
    await acceptDatabase(database);
    say(`The nodes go on with ${name}.`);
  } finally {
    await database.close();
  }
}

/** A replica goes on in place of its primary, which may have numbered messages that are not known here. Throws until they are raised. */
export async function goOnPromoted(database: Queryable, log: Logger): Promise<void> {
  log.warn('the database was recovered a moment ago: a replica was promoted');
  await raiseMessageNumbers(database).catch((error: unknown) => {
    log.error(
      { err: error },
      'tables may refuse messages until their numbers were raised: it is tried again',
    );
    throw error;
  });
}

function describe(
  { ended, toLookUp }: Doubted,
  lapsed: readonly { provider: string; count: number }[],
): string[] {
  const stale = lapsed.map(({ provider, count }) => `${count} of ${provider}`).join(', ');
  return [
    `${ended} unfinished writes ended with an unknown outcome: look at the provider, and say what became of them with :resolve.`,
    `${toLookUp} unfinished creates are looked for at the provider, and are sent only where no record with their unique value was created since; where one holds other values by now, and without a unique value, they end with an unknown outcome, too: svc operations list --category unknownOutcome.`,
    ...(stale === ''
      ? []
      : [
          `Connections whose access token has ended since the backup: ${stale}. Where the provider rotates refresh tokens, those that were renewed since answer connection-bad-credentials, an event tells of each, and its customer connects again.`,
        ]),
  ];
}
