import { nulDetail, nulPaths } from '../../kit/nul.ts';
import type { Issue } from '../../kit/problem.ts';
import type { Principal } from '../../projects/index.ts';
import { bodyIssue, contentPath } from './issue.ts';
import { readIssues } from './read-rules.ts';
import type { CheckContext } from './context.ts';
import type { ConfigContent } from './schema.ts';
import { writeIssues } from './write-rules.ts';

/** Every rule over more than one field of a config (§2.3, §2.4, §2.5, §7.3). */
export function checkContent(content: ConfigContent, context: CheckContext): Issue[] {
  const nul = nulPaths(content).map((path) => bodyIssue(`${contentPath}.${path}`, nulDetail));
  if (nul.length > 0) return nul;
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

/** Who changes a config without saying so. */
export function createdByOf({
  kind,
  keyId,
  consumerRef,
}: Pick<Principal, 'kind' | 'keyId' | 'consumerRef'>): string {
  if (consumerRef !== undefined) return `consumer:${consumerRef}`;
  return `${kind === 'person' ? 'builder' : 'api'}:${keyId}`;
}

/** `createdBy` has one of its three forms (§2.2), and an end user speaks for no other. */
export function createdByIssues(
  createdBy: string | undefined,
  { consumerRef }: Pick<Principal, 'consumerRef'>,
): Issue[] {
  if (createdBy === undefined) return [];
  if (consumerRef !== undefined && createdBy !== `consumer:${consumerRef}`) {
    const detail = `must be consumer:${consumerRef}, whom the token is for`;
    return [bodyIssue('config.createdBy', detail, createdBy)];
  }
  if (createdByForm.test(createdBy)) return [];
  const detail = 'must have the form consumer:{consumer-id}, builder:{builder-id} or api:{api-caller}';
  return [bodyIssue('config.createdBy', detail, createdBy)];
}
