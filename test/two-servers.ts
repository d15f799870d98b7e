import { openFile, sealFile } from '../src/transfer/envelope.ts';
import type { Export, Import, ProjectFile } from '../src/transfer/schema.ts';
import type { ProblemBody } from './customer.ts';
import { createTestDatabase, type TestDatabase } from './database.ts';
import { startPlatform, type Answer, type Platform } from './platform.ts';

export const passphrase = 'correct horse battery staple';

/** Two servers with databases and master keys of their own, and the same providers: projects move between them. */
export interface TwoServers {
  home: Platform;
  away: Platform;
  homeDatabase: TestDatabase;
  awayDatabase: TestDatabase;
  stop(): Promise<void>;
}

export async function startTwoServers(env: Record<string, string> = {}): Promise<TwoServers> {
  const [homeDatabase, awayDatabase] = await Promise.all([createTestDatabase(), createTestDatabase()]);
  const home = await startPlatform({ databaseUrl: homeDatabase.url });
  const away = await startPlatform({
    databaseUrl: awayDatabase.url,
    beside: home,
    env: { SVC_ENCRYPTION_KEYS: `other:${Buffer.alloc(32, 9).toString('base64')}`, ...env },
  });
  return {
    home,
    away,
    homeDatabase,
    awayDatabase,
    async stop() {
      await away.stop();
      await home.stop();
      await Promise.all([homeDatabase.drop(), awayDatabase.drop()]);
    },
  };
}

/** What is below the project of a platform. */
export function below({ projectId }: Platform, path: string): string {
  return `/projects/${projectId}${path}`;
}

export async function exported(platform: Platform, { move }: { move: boolean }): Promise<Export> {
  const { status, body, text } = await platform.call<Export>('POST', below(platform, '/exports'), {
    passphrase,
    move,
  });
  if (status !== 200) throw new Error(text);
  return body;
}

/** The file of an export with `move`. */
export async function handedOver(from: Platform): Promise<ProjectFile> {
  return (await exported(from, { move: true })).file;
}

export function imported(platform: Platform, file: ProjectFile): Promise<Answer<Import & ProblemBody>> {
  return platform.call<Import & ProblemBody>('POST', below(platform, '/imports'), { passphrase, file });
}

/** As a release before wrote it. */
export async function inVersion2({ data, salt, ...head }: ProjectFile): Promise<ProjectFile> {
  const opened = await openFile({ data, salt, ...head }, passphrase);
  const content = JSON.parse(String(opened)) as Record<string, { row: string }[]>;
  for (const connection of content['connections'] ?? []) {
    const {
      as_of: _asOf,
      moved_at: _movedAt,
      signed_in_at: _signedInAt,
      ...row
    } = JSON.parse(connection.row) as Record<string, unknown>;
    connection.row = JSON.stringify({ ...row, generation: 7 });
  }
  const file = await sealFile({ ...head, version: 2 }, JSON.stringify(content), passphrase);
  if (!file) throw new Error('the file is too large');
  return file;
}
