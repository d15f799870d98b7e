import { problem, refuse } from '../../kit/problem.ts';
import type { PatchObjectRequest } from '../schema.ts';
import { applyChanges } from './json-patch.ts';
import { entryOf } from './objects.ts';
import type { ConfigContent } from './schema.ts';

/**
 * The content with the changes made to one object's config, not checked yet. An object without a config can only be
 * added whole, at the empty path; removing the empty path takes it out of the config. Throws not-found and invalid-request.
 */
export function patchObject(
  content: ConfigContent,
  objectName: string,
  request: PatchObjectRequest,
): unknown {
  const { action, changes } = request;
  const objects: Readonly<Record<string, { objectName: string }>> = content[action]?.objects ?? {};
  const [key, config] = entryOf(objects, objectName) ?? [objectName, undefined];
  const addsWhole = changes[0]?.op === 'add' && changes[0].path === '';
  if (!config && !addsWhole) {
    throw problem('not-found', {
      detail: `The ${action} config of the installation does not have the object ${objectName}.`,
      remedy: 'Add it whole: a change with op "add", path "" and the object config as value.',
    });
  }
  const outcome = applyChanges(config, changes);
  if ('issues' in outcome) throw refuse(outcome.issues);
  const { [key]: _before, ...others } = objects;
  const after = outcome.value === undefined ? others : { ...objects, [key]: outcome.value };
  return { ...content, [action]: { ...content[action], objects: after } };
}
