import { answerOf, SvcError, type Svc } from '../../../ui/client/src/index.ts';
import type { KeyGround } from './lines.ts';

/** A problem that the write itself tells better, or a key that may write and not look: then the names stay as they were typed. */
const passedOver = new Set([403, 404]);

/**
 * The ground as svc knows it: a project and an integration may be told by their names, which can change, and an object without regard to
 * case, and the lines are the same.
 */
export async function asKnown(svc: Svc, typed: KeyGround, signal: AbortSignal): Promise<KeyGround> {
  const path = { projectIdOrName: typed.project, integrationIdOrName: typed.integration };
  const [project, integration] = await Promise.all([
    found(answerOf(svc.api.GET('/v1/projects/{projectIdOrName}', { params: { path }, signal }))),
    found(
      answerOf(
        svc.api.GET('/v1/projects/{projectIdOrName}/integrations/{integrationIdOrName}', {
          params: { path },
          signal,
        }),
      ),
    ),
  ]);
  const declared = integration?.latestRevision.content.write?.objects ?? [];
  const object = declared.find(({ objectName }) => objectName.toLowerCase() === typed.object.toLowerCase());
  return {
    ...typed,
    project: project?.id ?? typed.project,
    integration: integration?.id ?? typed.integration,
    object: object?.objectName ?? typed.object,
  };
}

async function found<Thing>(look: Promise<Thing>): Promise<Thing | undefined> {
  try {
    return await look;
  } catch (error) {
    if (error instanceof SvcError && passedOver.has(error.status)) return undefined;
    throw error;
  }
}
