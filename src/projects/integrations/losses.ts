import type { Queryable } from '../../kit/db/database.ts';
import { warned, type Finding } from '../manifest/finding.ts';
import type { DeployPlan } from './deploy-plan.ts';
import { labelOf, type RetainedObject } from './retained.ts';

/** How many installations of an integration exist, and how many of them name the object in their config. */
export type UsageHook = (
  db: Queryable,
  projectId: string,
  integrationId: string,
  object: { action: 'read' | 'write'; objectName: string },
) => Promise<{ installations: number; configured: number }>;

/** A warning for each object that a deploy takes away from installations that exist. */
export async function findLosses(
  db: Queryable,
  projectId: string,
  plan: DeployPlan,
  { destructive, usage }: { destructive: boolean; usage: UsageHook },
): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const step of plan.integrations) {
    if (step.change !== 'updated') continue;
    for (const taken of step.takenAway) {
      const { action, object } = taken;
      const asked = { action, objectName: object.objectName };
      const { installations, configured } = await usage(db, projectId, step.live.id, asked);
      // What no config names may be written all the same, and is read only where it is read for all.
      const isForAll = action === 'write' || ('enabled' in object && object.enabled === 'always');
      const used = { installations: isForAll ? installations : configured, configured };
      if (used.installations === 0) continue;
      findings.push(
        warned(
          'object-taken-away',
          ['integrations', step.index, action],
          messageOf(taken, used, destructive),
        ),
      );
    }
  }
  return findings;
}

function messageOf(
  taken: RetainedObject,
  { installations, configured }: Awaited<ReturnType<UsageHook>>,
  destructive: boolean,
): string {
  const whose = installations === 1 ? '1 installation has' : `${installations} installations have`;
  const named = `${configured} of them in the config`;
  const stops = taken.action === 'read' ? 'its reads pause' : 'its writes are refused';
  const what = destructive
    ? `${stops} there from now on`
    : 'it goes on there as it was; deploy with destructive=true to end it';
  return `the manifest no longer holds ${labelOf(taken)}, which ${whose} (${named}): ${what}`;
}
