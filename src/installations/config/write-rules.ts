import type { Issue } from '../../kit/problem.ts';
import type { CheckContext } from './context.ts';
import { bodyIssue, contentPath } from './issue.ts';
import { objectNameIssues } from './objects.ts';
import type { ConfigContent, FieldSetting, WriteObjectConfig } from './schema.ts';

/** The rules of the write config (§2.5). */
export function writeIssues(content: ConfigContent, context: CheckContext): Issue[] {
  const objects = content.write?.objects ?? {};
  const path = `${contentPath}.write.objects`;
  const known = {
    declared: (context.manifest.write?.objects ?? []).map((object) => object.objectName),
    before: context.previous?.write?.objects ?? {},
    read: context.manifest.read?.objects,
    place: 'write.objects',
  };
  return [
    ...objectNameIssues(path, objects, known),
    ...Object.entries(objects).flatMap(([key, config]) => objectIssues(`${path}.${key}`, config, context)),
  ];
}

function objectIssues(path: string, config: WriteObjectConfig, context: CheckContext): Issue[] {
  const settings = Object.entries(config.selectedFieldSettings ?? {});
  return [
    ...deletionIssues(`${path}.deletionSettings.enabled`, config, context),
    ...settings.flatMap(([field, setting]) =>
      settingIssues(`${path}.selectedFieldSettings.${field}`, setting, context),
    ),
  ];
}

function deletionIssues(
  path: string,
  { deletionSettings }: WriteObjectConfig,
  context: CheckContext,
): Issue[] {
  if (deletionSettings?.enabled !== true || context.abilities.delete) return [];
  return [
    bodyIssue(
      path,
      `cannot be true: records of ${context.provider} cannot be deleted through this service`,
      true,
    ),
  ];
}

function settingIssues(path: string, setting: FieldSetting, context: CheckContext): Issue[] {
  const issues: Issue[] = [];
  const given = Object.keys(setting.default ?? {});
  if (given.length > 1) {
    issues.push(bodyIssue(`${path}.default`, `has ${given.join(' and ')}; at most one of them may be given`));
  }
  if (setting.writeOnUpdate === 'ifEmpty' && !context.abilities.ifEmpty) {
    issues.push(
      bodyIssue(`${path}.writeOnUpdate`, `"ifEmpty" is not supported for ${context.provider}`, 'ifEmpty'),
    );
  }
  return issues;
}
