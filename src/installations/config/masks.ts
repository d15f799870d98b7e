import { Draft } from '../../kit/draft.ts';
import { refuse, type Issue } from '../../kit/problem.ts';
import { readMask, splitMaskPath, valueAt } from '../../kit/update-mask.ts';
import type { UpdateInstallationRequest } from '../schema.ts';

const deepestMember = 4;
/** Segments of a mask on a whole object: `config.content.write.objects.contacts`. */
const objectDepth = 5;
const underObject = (action: string) =>
  Array.from(
    { length: deepestMember + 1 },
    (_, depth) => `config.content.${action}.objects.*${'.*'.repeat(depth)}`,
  );

/** The masks of an update. Members of one object's config have masks, too, which the UI library uses. */
const allowedMasks = [
  'connectionId',
  'config.createdBy',
  'config.content',
  'config.content.proxy.enabled',
  'config.content.write.objects',
  'config.content.subscribe.objects',
  ...underObject('read'),
  ...underObject('write'),
  ...underObject('subscribe'),
];

/** What a PATCH asks for: `content` is not checked yet. */
export interface MaskedChange {
  content: unknown;
  connectionId: string | undefined;
  createdBy: string | undefined;
}

/** The content with the masked parts replaced; a mask on an object replaces its whole config. Throws invalid-request. */
export function applyMasks(
  content: unknown,
  { updateMask, installation }: UpdateInstallationRequest,
): MaskedChange {
  const change: MaskedChange = { content, connectionId: undefined, createdBy: undefined };
  const draft = new Draft();
  for (const [mask, value] of readMask(updateMask, allowedMasks, installation, 'installation')) {
    const [first, second, ...path] = splitMaskPath(mask);
    if (first === 'connectionId') change.connectionId = installation.connectionId;
    else if (second === 'createdBy') change.createdBy = installation.config?.createdBy;
    else change.content = withValue(draft, change.content, path, value);
  }
  const issues = updateMask.flatMap((mask, index) => issueBelowNothing(change.content, mask, index));
  if (issues.length > 0) throw refuse(issues);
  return change;
}

/** A mask on members of an object makes the object where there is none; without its name it is no config. */
function issueBelowNothing(changed: unknown, mask: string, index: number): Issue[] {
  const path = splitMaskPath(mask);
  const place = path.slice(0, objectDepth);
  if (path.length <= objectDepth || valueAt(changed, [...place.slice(2), 'objectName']) !== undefined)
    return [];
  const whole = place.map((segment) => segment.replace(/[\\.:]/g, String.raw`\$&`)).join('.');
  const detail = `is of an object that the config does not have; to add the object, name all of it: \`${whole}\``;
  return [{ in: 'body', name: `updateMask[${index}]`, detail, value: mask }];
}

/** A copy with the value at the path; objects that are missing on the way are made. */
function withValue(draft: Draft, node: unknown, [key, ...rest]: readonly string[], value: unknown): unknown {
  if (key === undefined) return value;
  const object = draft.own(
    typeof node === 'object' && node !== null ? (node as Record<string, unknown>) : {},
  );
  const inner = Object.hasOwn(object, key) ? object[key] : undefined;
  object[key] = withValue(draft, inner, rest, value);
  return object;
}
