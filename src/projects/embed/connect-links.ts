import { createHash, randomBytes } from 'node:crypto';
import { actAs, assertReaches, currentActor, record, type Reach } from '../../events/index.ts';
import { createCache } from '../../kit/cache.ts';
import type { Ground } from '../../kit/ground.ts';
import { isId, newId, storedId } from '../../kit/ids.ts';
import { createLookup } from '../../kit/lookup.ts';
import { listOrPage } from '../../kit/paging.ts';
import type { OptionalPageQuery, Page } from '../../kit/paging-schema.ts';
import { problem } from '../../kit/problem.ts';
import type { Project } from '../schema.ts';
import * as store from './connect-link-store.ts';
import type { Answerable, FrontendTokens } from './frontend-tokens.ts';
import {
  mostTokenSeconds,
  type ConnectLink,
  type ConnectLinkRequest,
  type OpenedConnectLink,
} from './schema.ts';

/** Links by which a person connects and installs on a page of this service. */
export interface ConnectLinks {
  /** `url` is shown in this answer and nowhere else. */
  create(reach: Reach, request: ConnectLinkRequest): Promise<ConnectLink>;
  list(
    reach: Reach,
    query: OptionalPageQuery & { groupRef?: string },
  ): Promise<ConnectLink[] | Page<ConnectLink>>;
  delete(reach: Reach, id: string): Promise<void>;
  /** A token for the page, and what it shows. Throws connect-link-over. */
  open(opening: Opening): Promise<OpenedConnectLink>;
  /** The link while it holds. */
  holding(id: string): Promise<Answerable | undefined>;
  close(): void;
}

interface Opening {
  link: string;
  browser: string;
  projectId?: string;
  address: string;
  requestId: string;
}

export interface ConnectLinkDeps {
  ground: Pick<Ground, 'database' | 'publicUrl'>;
  /** Whether the API key that made a link still may. */
  keyHolds: (id: string) => Promise<boolean>;
  /** Later than this is made: the tokens answer by the links. */
  tokens: () => FrontendTokens;
  project: (id: string) => Promise<Project>;
  integrationId: (projectId: string, idOrName: string) => Promise<string>;
  assertReturnUrl: (projectId: string, url: string) => Promise<void>;
}

/** The path of the page, below the origin of this service. */
export const connectPath = '/connect';

const hashOf = (text: string): Buffer => createHash('sha256').update(text).digest();

export function createConnectLinks(deps: ConnectLinkDeps): ConnectLinks {
  const { database, publicUrl } = deps.ground;
  const cache = createCache({ load: createLookup((ids) => store.loadConnectLinks(database, ids)) });
  return {
    async create(reach, { integration, expiresInSeconds, singleUse, returnUrl, ...whose }) {
      const { projectId } = reach;
      assertReaches(reach, whose.groupRef);
      if (returnUrl !== undefined) await deps.assertReturnUrl(projectId, returnUrl);
      const integrationId = await deps.integrationId(projectId, integration);
      const token = randomBytes(32).toString('base64url');
      const id = newId();
      const row = await database.transaction(async (tx) => {
        const { groupRef, consumerRef } = whose;
        const details = { groupRef, consumerRef, integrationId, expiresInSeconds, singleUse };
        await record(tx, { projectId, action: 'connectLink.created', targetId: id, details });
        const { kind, keyId } = currentActor();
        const madeBy = kind === 'apiKey' ? { keyId } : {};
        const link = { id, tokenHash: hashOf(token), integrationId, ...whose, ...madeBy };
        return store.insertConnectLink(tx, projectId, { ...link, returnUrl, singleUse, expiresInSeconds });
      });
      // Behind the #: a browser sends it to nobody, and no log has it.
      return { ...present(row), url: `${publicUrl}${connectPath}/${projectId}#${token}` };
    },
    list: async (reach, { groupRef, ...page }) => {
      if (groupRef !== undefined) assertReaches(reach, groupRef);
      const of = { projectId: reach.projectId, groupRef: groupRef ?? reach.groupRef };
      return listOrPage(
        page,
        (slice) => store.listConnectLinks(database, of, slice),
        (rows) => rows.map(present),
      );
    },
    async delete({ projectId, groupRef }, given) {
      const id = storedId(given);
      await database.transaction(async (tx) => {
        const group = isId(id) ? await store.deleteConnectLink(tx, { projectId, groupRef }, id) : undefined;
        if (group === undefined)
          throw problem('not-found', { detail: `There is no connect link ${id.slice(0, 64)}.` });
        const details = { groupRef: group };
        await record(tx, { projectId, action: 'connectLink.deleted', targetId: id, details });
      });
      cache.invalidate(id);
    },
    open: (opening) => openLink(deps, opening),
    async holding(id) {
      const link = await cache.get(id);
      if (link && !(await isAnsweredFor(deps, link))) return undefined;
      return link && { projectId: link.project_id, projectName: link.project_name, groupRef: link.group_ref };
    },
    close: () => cache.close(),
  };
}

/** A link ends with the API key that made it. */
async function isAnsweredFor(
  { keyHolds }: ConnectLinkDeps,
  { key_id: keyId }: Pick<store.ConnectLinkRow, 'key_id'>,
): Promise<boolean> {
  return keyId === null || (await keyHolds(keyId));
}

async function openLink(
  deps: ConnectLinkDeps,
  { link, browser, projectId: pageOf, address, requestId }: Opening,
): Promise<OpenedConnectLink> {
  const { ground, tokens, project } = deps;
  const claim = { tokenHash: hashOf(link), browserHash: hashOf(browser), projectId: pageOf };
  const found = await store.findConnectLink(ground.database, claim);
  // Before the transaction: the cache of keys asks on a connection of its own, which transactions that wait for it would keep from it.
  if (!found || !(await isAnsweredFor(deps, found))) throw problem('connect-link-over');
  const row = await ground.database.transaction(async (tx) => {
    const claimed = await store.claimConnectLink(tx, claim);
    if (!claimed) return undefined;
    const { project_id: projectId, id, group_ref: groupRef, consumer_ref: consumerRef } = claimed;
    const actor = { kind: 'jwt' as const, keyId: id, groupRef, consumerRef, address, requestId };
    await actAs(actor, () => record(tx, { projectId, action: 'connectLink.opened', targetId: id }));
    return claimed;
  });
  if (!row) throw problem('connect-link-over');
  const { projectId, integration, returnUrl, expiresAt: linkExpiresAt, ...shown } = present(row);
  const { groupRef, groupName, consumerRef, consumerName } = shown;
  const expiresAt = Math.min(Date.now() + mostTokenSeconds * 1_000, row.expires_at.getTime());
  const { appName, branding } = await project(projectId);
  return {
    ...tokens().make({ by: 'connectLink', id: row.id, groupRef, consumerRef, expiresAt }),
    project: { id: projectId, appName, branding },
    integration,
    groupRef,
    ...(groupName === undefined ? {} : { groupName }),
    consumerRef,
    ...(consumerName === undefined ? {} : { consumerName }),
    ...(returnUrl === undefined ? {} : { returnUrl }),
    linkExpiresAt,
  };
}

function present(row: store.ConnectLinkRow): ConnectLink {
  return {
    id: row.id,
    projectId: row.project_id,
    integration: row.integration,
    groupRef: row.group_ref,
    ...(row.group_name === null ? {} : { groupName: row.group_name }),
    consumerRef: row.consumer_ref,
    ...(row.consumer_name === null ? {} : { consumerName: row.consumer_name }),
    ...(row.return_url === null ? {} : { returnUrl: row.return_url }),
    singleUse: row.single_use,
    expiresAt: row.expires_at.toISOString(),
    ...(row.opened_at === null ? {} : { openedAt: row.opened_at.toISOString() }),
    createTime: row.created_at.toISOString(),
  };
}
