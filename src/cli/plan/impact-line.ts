import type { DeployImpact } from '../../../ui/client/src/index.ts';

const words: Readonly<Record<DeployImpact['kind'], [one: string, many: string]>> = {
  stopsReading: ['stops reading', 'stop reading'],
  stopsWriting: ['may no longer write', 'may no longer write'],
  keepsReading: [
    'goes on reading, until a deploy with --destructive,',
    'go on reading, until a deploy with --destructive,',
  ],
  keepsWriting: [
    'may go on writing, until a deploy with --destructive,',
    'may go on writing, until a deploy with --destructive,',
  ],
  startsReading: ['starts reading', 'start reading'],
  renamesObject: ['gets under another name', 'get under another name'],
  losesField: ['loses', 'lose'],
  losesSchedule: ['loses the schedule of', 'lose the schedule of'],
  losesMapping: ['loses the mapped names for writes of', 'lose the mapped names for writes of'],
  losesProxy: ['may no longer call through the proxy', 'may no longer call through the proxy'],
  needsMapping: ['needs a mapping for', 'need a mapping for'],
  lacksScope: ['lacks the scope', 'lack the scope'],
};

/** Of an impact: how many installations, what it means to them, and the groups of the newest. */
export function impactLine({ kind, object, field, scope, count, installations }: DeployImpact): string {
  const shown = installations.slice(0, 5).map(({ groupRef }) => groupRef);
  const more = count > shown.length ? ', …' : '';
  const what = scope ?? [object, field].filter((part) => part !== undefined).join('.');
  const sign = kind === 'startsReading' ? '+' : '!';
  const said = [words[kind][count === 1 ? 0 : 1], what].filter((part) => part !== '').join(' ');
  return `  ${sign} ${count} ${said} (${shown.join(', ')}${more})`;
}
