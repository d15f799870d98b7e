import type { Limits } from '../../../kit/ground.ts';
import { problem } from '../../../kit/problem.ts';
import {
  effectiveWriteObject,
  fieldsReadAsNamed,
  type ProposedTarget,
} from '../../../installations/index.ts';
import { abilitiesOf } from '../../../providers/index.ts';
import type { WriteScope } from './plan.ts';

/** What the planner must know, from the installation as it is now. Throws for an object that may not be written at all. */
export function scopeOf(target: ProposedTarget, objectName: string, limits: Limits): WriteScope {
  if (!target.manifest.write) {
    throw problem('write-not-configured', {
      detail: `The integration ${target.integrationName} declares no write action.`,
    });
  }
  const object = effectiveWriteObject(target, objectName);
  if (!object.declared) {
    throw problem('object-not-in-manifest', {
      detail: `The integration ${target.integrationName} does not declare ${objectName} under write.objects.`,
    });
  }
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
