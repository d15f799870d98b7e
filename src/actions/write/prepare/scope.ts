import type { Limits } from '../../../kit/ground.ts';
import { nearest } from '../../../kit/nearest.ts';
import { problem, type Problem } from '../../../kit/problem.ts';
import {
  effectiveWriteObject,
  fieldsReadAsNamed,
  ownNameOf,
  type ProposedTarget,
} from '../../../installations/index.ts';
import { abilitiesOf } from '../../../providers/index.ts';
import type { WriteScope } from './plan.ts';

const known = new WeakMap<ProposedTarget, Map<string, WriteScope>>();
/** Of one installation; a name may be written in many ways of upper and lower case. */
const mostKnown = 64;

/**
 * What the planner must know, from the installation as it is now. Throws for an object that may not be written at all. Kept for as long
 * as the installation is remembered: a config may map hundreds of fields.
 */
export function scopeOf(target: ProposedTarget, objectName: string, limits: Limits): WriteScope {
  const ofTarget = known.get(target) ?? new Map<string, WriteScope>();
  const before = ofTarget.get(objectName);
  if (before?.limits === limits) return before;
  const scope = makeScope(target, objectName, limits);
  if (ofTarget.size < mostKnown) known.set(target, ofTarget.set(objectName, scope));
  return scope;
}

function makeScope(target: ProposedTarget, objectName: string, limits: Limits): WriteScope {
  if (!target.manifest.write) {
    throw problem('write-not-configured', {
      detail: `The integration ${target.integrationName} declares no write action.`,
    });
  }
  const object = effectiveWriteObject(target, objectName);
  if (!object.declared) throw undeclared(target, objectName);
  return {
    objectName: object.objectName,
    provider: target.provider,
    abilities: abilitiesOf(target.provider),
    deletionEnabled: object.deletionEnabled,
    rules: {
      settings: object.fieldSettings,
      valueDefaults: object.valueDefaults,
      mappings: object.mappings,
      unsetMappings: object.unsetMappings,
      ...(object.inheritMapping && limits.mappedOnlyIn(target.projectId)
        ? { only: fieldsReadAsNamed(objectName, target) }
        : {}),
    },
    limits,
  };
}

/** Writes go by the provider's name of an object, also where what is read of it is delivered under another one. */
function undeclared({ manifest, integrationName }: ProposedTarget, objectName: string): Problem {
  const detail = `The integration ${integrationName} does not declare ${objectName} under write.objects`;
  const written = manifest.write?.objects?.map((one) => one.objectName) ?? [];
  const own = ownNameOf(manifest.read?.objects, written, objectName);
  if (own)
    return problem('object-not-in-manifest', {
      detail: `${detail}: ${own.words}.`,
      remedy: `Write to ${own.objectName}.`,
    });
  const meant = nearest(objectName, written);
  if (meant === undefined) return problem('object-not-in-manifest', { detail: `${detail}.` });
  return problem('object-not-in-manifest', {
    detail: `${detail}; did you mean ${meant}?`,
    remedy: `Write to ${meant}, or add ${objectName} under \`write.objects\` of the integration in \`svc.yaml\` and deploy it.`,
  });
}
