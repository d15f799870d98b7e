import { Agent, request, type IncomingMessage } from 'node:http';
import { scaled, type Figure } from '../figure.ts';
import { residentMb } from '../process.ts';
import { startStage, type Stage } from '../stage.ts';

const streams = 1_000;
/** Changes while all streams are open: each is told to each of them. */
const changes = scaled(200);
const settleMs = 3_000;

export const live: Figure = {
  id: 'live-1000',
  about: `the most memory with ${streams} streams open, while ${changes} changes are told to all`,
  unit: 'MB',
  yardstick: 'the same process before',
  goal: { of: 'difference', atMost: 100 },
  once: true,
  prepare: async () => {
    const stage = await startStage('http://127.0.0.1:9', {
      groups: [],
      env: { SVC_STREAMS_PER_CALLER: String(streams) },
    });
    return { close: () => stage.close(), run: () => measureMemory(stage) };
  },
};

async function measureMemory(stage: Stage): Promise<{ value: number; yardstick: number }> {
  await settled();
  const yardstick = residentMb(stage.pid);
  const agent = new Agent({ keepAlive: false, maxSockets: Infinity });
  const heard = { bytes: 0 };
  const open: IncomingMessage[] = [];
  for (let n = 0; n < streams; n += 50)
    open.push(...(await Promise.all(Array.from({ length: 50 }, () => follow(stage, agent, heard)))));
  let value = residentMb(stage.pid);
  for (let n = 0; n < changes; n += 1) {
    await stage.call('POST', `/v1/projects/${stage.projectId}/api-keys`, {
      label: `k${n}`,
      scopes: ['read'],
    });
    value = Math.max(value, residentMb(stage.pid));
  }
  await settled();
  value = Math.max(value, residentMb(stage.pid));
  if (heard.bytes < streams * changes) throw new Error('the streams were not told of the changes');
  for (const one of open) one.destroy();
  return { value, yardstick };
}

const settled = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, settleMs));

function follow(
  { base, apiKey, projectId }: Stage,
  agent: Agent,
  heard: { bytes: number },
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const headers = { 'x-api-key': apiKey };
    const asked = request(`${base}/v1/projects/${projectId}/stream`, { headers, agent }, (answer) => {
      answer.on('data', (chunk: Buffer) => (heard.bytes += chunk.length));
      answer.on('error', () => undefined);
      if (answer.statusCode === 200) resolve(answer);
      else reject(new Error(`a stream was answered ${answer.statusCode}`));
    });
    asked.on('error', reject);
    asked.end();
  });
}
