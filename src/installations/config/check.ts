import type { Issue } from '../../kit/problem.ts';
import { bodyIssue, contentPath } from './issue.ts';
import { readIssues } from './read-rules.ts';
import type { CheckContext } from './context.ts';
import type { ConfigContent } from './schema.ts';
import { writeIssues } from './write-rules.ts';

/** Every rule over more than one field of a config (specification 2.3 to 2.5 and 7.3; contract, Configuration). */
export function checkContent(content: ConfigContent, context: CheckContext): Issue[] {
  return [
    ...providerIssues(content, context),
    ...readIssues(content, context),
    ...writeIssues(content, context),
    ...proxyIssues(content, context),
  ];
}

function providerIssues(content: ConfigContent, { provider }: CheckContext): Issue[] {
  if (content.provider === provider) return [];
  const detail = `must be "${provider}", the provider of the integration`;
  return [bodyIssue(`${contentPath}.provider`, detail, content.provider)];
}

function proxyIssues(content: ConfigContent, { manifest, previous }: CheckContext): Issue[] {
  const isNew = content.proxy?.enabled === true && previous?.proxy?.enabled !== true;
  if (!isNew || manifest.proxy?.enabled === true) return [];
  return [
    bodyIssue(
      `${contentPath}.proxy.enabled`,
      'cannot be true: the integration does not enable the proxy',
      true,
    ),
  ];
}

const createdByForm = /^(consumer|builder|api):\S(.*\S)?$/;

/** `createdBy` has one of its three forms (specification 2.2). */
export function createdByIssues(createdBy: string | undefined): Issue[] {
  if (createdBy === undefined || createdByForm.test(createdBy)) return [];
  const detail = 'must have the form consumer:{consumer-id}, builder:{builder-id} or api:{api-caller}';
  return [bodyIssue('config.createdBy', detail, createdBy)];
}
