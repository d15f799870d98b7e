/** One node of the refresh proof: calls with as many callers at once as it is told, and answers what they got. Dies at `SVC_CRASH_AT`. */
import { openDatabase } from '../../src/kit/db/database.ts';
import { createConnections } from '../../src/connections/index.ts';
import { groundOn } from '../../src/connections/ground.fixture.ts';
import { createProjects } from '../../src/projects/index.ts';
import { loadCatalog } from '../../src/providers/index.ts';

const { DATABASE_URL = '', MASTER_KEY = '', PROVIDERS_DIR = '', ORIGINS = '{}' } = process.env;
const database = openDatabase({ url: DATABASE_URL, poolSize: 4, applicationName: 'svc refresh node' });
const ground = groundOn(database, MASTER_KEY);
const catalog = loadCatalog({
  directory: PROVIDERS_DIR,
  origins: JSON.parse(ORIGINS) as Record<string, string>,
});
const projects = createProjects(ground, { catalog });
const connections = createConnections(ground, { projects, catalog });

interface Order {
  projectId: string;
  id: string;
  callers: number;
}

async function obey({ projectId, id, callers }: Order): Promise<void> {
  const calls = Array.from({ length: callers }, () => connections.refresh(projectId, id, 'force'));
  const ended = await Promise.allSettled(calls);
  process.send?.({ failed: ended.filter(({ status }) => status === 'rejected').length });
}

process.on('message', (order) => void obey(order as Order));
process.on('disconnect', () => process.exit(0));
process.send?.('ready');
