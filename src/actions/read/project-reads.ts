import type { Reach } from '../../events/index.ts';
import { isId } from '../../kit/ids.ts';
import type { Page } from '../../kit/paging-schema.ts';
import { badToken, pageOf, readToken, tokenOf } from '../../kit/paging.ts';
import type { ReadDeps } from './prepare.ts';
import type { ProjectReadQuery, ProjectReadState } from './schema.ts';
import { runsOf, stateOf } from './state.ts';
import { feedsWith } from './status.ts';
import { beginning, listReads, type ReadPlace, type ReadRow } from './store/states.ts';

/** Reads that one page looks at, at the most: where few of them are asked for, the page is short. */
const mostLookedAt = 5_000;

/**
 * A page of the reads of all installations that the caller reaches, by a few statements however many they are. Feeds follow a change of
 * config or manifest within about a second.
 */
export async function projectReads(
  deps: ReadDeps,
  { projectId, groupRef: own }: Reach,
  { pageSize, pageToken, status, groupRef = own, ...filter }: ProjectReadQuery,
): Promise<Page<ProjectReadState>> {
  const after = placeIn(pageToken);
  const { installationId } = filter;
  const isNothing =
    (own !== undefined && groupRef !== own) || (installationId !== undefined && !isId(installationId));
  if (isNothing) return { results: [], pagination: { done: true } };
  const feeds = status === undefined ? {} : feedsWith(status);
  const looks = status === undefined && filter.object === undefined ? pageSize + 1 : mostLookedAt;
  const asked = { filter: { ...filter, groupRef, ...feeds }, after, looks, limit: pageSize + 1 };
  const { rows, lookedTo } = await listReads(deps.ground.database, projectId, asked);
  const { results, pagination } = pageOf(rows, pageSize, tokenTextOf);
  const shown = await statesOf(deps, projectId, results);
  return {
    results: shown.filter((one) => status === undefined || one.status === status),
    pagination:
      pagination.done && lookedTo
        ? { done: false, nextPageToken: tokenOf(tokenTextOf(lookedTo)) }
        : pagination,
  };
}

const tokenTextOf = ({ installationId, object }: ReadPlace): string => `${installationId} ${object}`;

/** Without those whose installation or object went a moment ago. */
async function statesOf(
  deps: ReadDeps,
  projectId: string,
  rows: readonly ReadRow[],
): Promise<ProjectReadState[]> {
  const ids = [...new Set(rows.map(({ installationId }) => installationId))];
  const [installed, runs] = await Promise.all([
    deps.installations.readsOf(projectId, ids),
    runsOf(deps, projectId, rows),
  ]);
  return rows.flatMap((row) => {
    const { installationId, object } = row;
    const { integrationId, groupRef, objects } = installed.get(installationId) ?? {};
    const asked = objects?.find(({ objectName }) => objectName.toLowerCase() === object);
    if (integrationId === undefined || groupRef === undefined || !asked) return [];
    return [{ installationId, integrationId, groupRef, ...stateOf(asked, row, runs) }];
  });
}

function placeIn(token: string | undefined): ReadPlace {
  if (token === undefined) return beginning;
  const [, installationId = '', object = ''] = /^(\S+) (.+)$/s.exec(readToken(token)) ?? [];
  if (object === '' || !isId(installationId)) throw badToken();
  return { installationId, object };
}
