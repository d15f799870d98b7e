import { record, type Actor } from '../../events/index.ts';
import type { Database } from '../../kit/db/database.ts';
import { statement } from '../../kit/db/statement.ts';
import { problem } from '../../kit/problem.ts';
import { sealedColumn } from '../../kit/rotation.ts';
import type { Vault } from '../../kit/vault.ts';
import type { ProviderMetadata } from '../schema.ts';
import { hashState, stateLifeSeconds } from './state.ts';

/** What a started authorization is for; the answer cannot change any of it. */
export interface FlowRequest {
  provider: string;
  providerAppId: string;
  groupRef: string;
  consumerRef: string;
  groupName?: string;
  consumerName?: string;
  workspaceRef?: string;
  providerMetadata: ProviderMetadata;
  scopes: string[];
  /** Where the browser is sent; the state is added there, and not kept. */
  authorizeUrl: string;
  returnUrl?: string;
  /** The connection whose credentials are replaced (oauth-update). */
  connectionId?: string;
  /** Who began it; absent in flows of an older release. */
  startedBy?: Actor;
}

export interface Flow {
  projectId: string;
  request: FlowRequest;
  verifier: string;
}

interface FlowRow {
  project_id: string;
  request: FlowRequest;
  code_verifier: Buffer;
}

/** A flow that is over, as long as it is kept. */
export interface EndedFlow {
  projectId: string;
  request: FlowRequest;
  how: 'used' | 'expired';
}

const insert = statement(
  'oauth_flows_insert',
  `INSERT INTO oauth_flow (project_id, state_hash, request, code_verifier, expires_at)
   VALUES ($1, $2, $3, $4, svc_now() + ${stateLifeSeconds} * interval '1 second')`,
);

const sweep = statement(
  'oauth_flows_sweep',
  `DELETE FROM oauth_flow WHERE state_hash IN
     (SELECT state_hash FROM oauth_flow WHERE expires_at < svc_now() - interval '1 hour' ORDER BY expires_at LIMIT 100 FOR UPDATE SKIP LOCKED)`,
);

// The first browser that comes keeps it.
const open = statement(
  'oauth_flows_open',
  `UPDATE oauth_flow SET browser_hash = $2 WHERE state_hash = $1 AND expires_at > svc_now()
     AND (browser_hash IS NULL OR browser_hash = $2)
   RETURNING request`,
);

const isOpen = statement(
  'oauth_flows_is_open',
  `SELECT FROM oauth_flow WHERE state_hash = $1 AND used_at IS NULL AND expires_at > svc_now()`,
);

// Of two answers with one state, one finds it: the other may have begun before it expired. It expires with that, because a node of an
// older release looks at nothing else.
const take = statement(
  'oauth_flows_take',
  `UPDATE oauth_flow SET used_at = svc_now(), expires_at = svc_now() WHERE state_hash = $1 AND expires_at > svc_now()
     AND used_at IS NULL AND browser_hash = $2
   RETURNING project_id, request, code_verifier`,
);

const findEnded = statement(
  'oauth_flows_find_ended',
  `SELECT project_id, request, used_at IS NOT NULL AS used FROM oauth_flow
   WHERE state_hash = $1 AND (used_at IS NOT NULL OR expires_at <= svc_now())`,
);

function verifierPlace(projectId: string, hash: Buffer): string {
  return `${projectId}/${hash.toString('hex')}/code_verifier`;
}

/** For the rotation of the master keys. */
export const sealedVerifiers = sealedColumn({
  table: 'oauth_flow',
  rowId: { column: 'state_hash', first: Buffer.alloc(0) },
  column: 'code_verifier',
  place: (projectId, hash) => verifierPlace(projectId, Buffer.from(hash)),
});

/** Keeps a flow for a while, and drops those that have long been over. */
export async function saveFlow(database: Database, vault: Vault, state: string, flow: Flow): Promise<void> {
  const hash = hashState(state);
  const verifier = vault.seal(flow.verifier, verifierPlace(flow.projectId, hash));
  await database.rows(sweep);
  const { projectId, request } = flow;
  await database.transaction(async (tx) => {
    await tx.rows(insert, [projectId, hash, JSON.stringify(request), verifier]);
    const { provider, groupRef, consumerRef, connectionId } = request;
    const details = { provider, groupRef, consumerRef };
    const targetId = connectionId ?? groupRef;
    await record(tx, { projectId, action: 'connection.authorizing', targetId, details });
  });
}

/** A state, and the secret of the browser that comes with it. */
export interface FlowKey {
  state: string;
  secret: string;
}

/** Binds the flow to the browser; undefined when it is another's, unknown, used or over. */
export async function bindFlow(
  database: Database,
  { state, secret }: FlowKey,
): Promise<FlowRequest | undefined> {
  const rows = await database.rows<Pick<FlowRow, 'request'>>(open, [hashState(state), hashState(secret)]);
  return rows[0]?.request;
}

/** Whether the flow can still be ended. */
export async function isOpenFlow(database: Database, state: string): Promise<boolean> {
  return (await database.rows(isOpen, [hashState(state)])).length > 0;
}

/** The flow of a state, once; undefined when it is another browser's, unknown, used or over. */
export async function takeFlow(
  database: Database,
  vault: Vault,
  { state, secret }: FlowKey,
): Promise<Flow | undefined> {
  const hash = hashState(state);
  const row = (await database.rows<FlowRow>(take, [hash, hashState(secret)]))[0];
  if (!row) return undefined;
  const verifier = vault.open(row.code_verifier, verifierPlace(row.project_id, hash));
  if (typeof verifier !== 'string') throw problem('internal', { detail: 'A code verifier is not a text.' });
  return { projectId: row.project_id, request: row.request, verifier };
}

/** What became of a flow that is over; undefined when nothing is known of it, or it still holds. */
export async function findEndedFlow(database: Database, state: string): Promise<EndedFlow | undefined> {
  type Row = Pick<FlowRow, 'project_id' | 'request'> & { used: boolean };
  const row = (await database.rows<Row>(findEnded, [hashState(state)]))[0];
  return row && { projectId: row.project_id, request: row.request, how: row.used ? 'used' : 'expired' };
}

/** Tells the builder that a person came back without a connection, and why. */
export async function recordRefusal(
  database: Database,
  { projectId, request }: Pick<Flow, 'projectId' | 'request'>,
  why: { reason: string; detail: string },
): Promise<void> {
  const { provider, groupRef, consumerRef, connectionId } = request;
  const details = { provider, groupRef, consumerRef, ...why };
  const targetId = connectionId ?? groupRef;
  await database.transaction((tx) =>
    record(tx, { projectId, action: 'connection.refused', targetId, details }),
  );
}
