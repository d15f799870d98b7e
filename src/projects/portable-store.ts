import { Type } from 'typebox';
import type { Queryable } from '../kit/db/database.ts';
import {
  portable,
  rowFaults,
  type Differing,
  type Portable,
  type RowFault,
  type Written,
} from '../kit/db/portable.ts';
import { orNull, text, timestamp, times, uuid } from '../kit/db/portable-schema.ts';
import { statement } from '../kit/db/statement.ts';
import { reference } from '../kit/reference-schema.ts';
import { isWebOrigin } from '../kit/web-origin.ts';
import { RetainedObject } from './integrations/retained.ts';
import { faultOfPem } from './keys/jwt-keys.ts';
import { standingFaults } from './manifest/standing.ts';
import { sealedProjectColumns } from './provider-apps/provider-apps.ts';
import {
  AllowedOrigins,
  Branding,
  instanceScopes,
  KeepDays,
  Manifest,
  ManifestIntegration,
  ProviderAppMetadata,
  Scope,
} from './schema.ts';

const readSettings = statement(
  'portable_read_settings',
  `SELECT row_to_json(r)::text AS row FROM project t
   CROSS JOIN LATERAL (SELECT t.app_name, t.allowed_origins, t.branding, t.keep_days) r WHERE t.id = $1`,
);
const writeSettings = statement(
  'portable_write_settings',
  `UPDATE project p SET app_name = r.app_name, allowed_origins = r.allowed_origins, branding = r.branding,
     keep_days = r.keep_days, updated_at = svc_now()
   FROM json_populate_record(NULL::project, $2::json) r
   WHERE p.id = $1 AND p.allowed_origins = '{}' AND p.branding::jsonb = '{}' AND p.keep_days = '{}'
     AND (p.app_name, p.allowed_origins, p.branding::jsonb, p.keep_days)
       IS DISTINCT FROM (r.app_name, r.allowed_origins, r.branding::jsonb, r.keep_days) RETURNING p.id::text, p.name`,
);

const differingSettings = statement(
  'portable_differ_settings',
  `SELECT concat_ws(', ', CASE WHEN p.app_name IS DISTINCT FROM r.app_name THEN 'appName' END,
     CASE WHEN p.allowed_origins IS DISTINCT FROM r.allowed_origins THEN 'allowedOrigins' END,
     CASE WHEN p.branding::jsonb IS DISTINCT FROM r.branding::jsonb THEN 'branding' END,
     CASE WHEN p.keep_days IS DISTINCT FROM r.keep_days THEN 'keepDays' END) AS name, false AS "hasOtherSecret"
   FROM project p, json_populate_record(NULL::project, $2::json) r
   WHERE p.id = $1 AND (p.app_name, p.allowed_origins, p.branding::jsonb, p.keep_days)
     IS DISTINCT FROM (r.app_name, r.allowed_origins, r.branding::jsonb, r.keep_days)`,
);

function originFaults({ allowed_origins: origins }: { allowed_origins: string[] }): RowFault[] {
  return origins.flatMap((value, index) =>
    isWebOrigin(value)
      ? []
      : [{ name: `allowed_origins[${index}]`, detail: 'must be an origin of the web', value }],
  );
}

interface RevisionRow {
  content: ManifestIntegration;
  retained: RetainedObject[] | null;
}

function revisionFaults({ content, retained }: RevisionRow): RowFault[] {
  const objects = content.read?.objects ?? [];
  return [
    ...objects.flatMap((object, index) => standingFaults(object, `content.read.objects[${index}]`)),
    ...(retained ?? []).flatMap((one, index) =>
      one.action === 'read' ? standingFaults(one.object, `retained[${index}].object`) : [],
    ),
  ];
}

function pemFaults({ public_key_pem: pem }: { public_key_pem: string }): RowFault[] {
  const detail = faultOfPem(pem);
  return detail === undefined ? [] : [{ name: 'public_key_pem', detail }];
}

/** The project has its name and its id from where it is; the rest of it comes along where nobody has set any of it yet. */
const settings: Portable = {
  kind: 'settings',
  key: [],
  faults: rowFaults(
    {
      app_name: text(128),
      allowed_origins: AllowedOrigins,
      branding: Branding,
      keep_days: KeepDays,
    },
    undefined,
    originFaults,
  ),
  read: (db, { projectId }) => db.rows<{ row: string }>(readSettings, [projectId]),
  clashes: async () => [],
  async write(tx, projectId, rows) {
    const came: Written = { created: [], replaced: 0, over: [], differing: [] };
    for (const { row } of rows) {
      came.created.push(...(await tx.rows<Written['created'][number]>(writeSettings, [projectId, row])));
      came.differing.push(...(await tx.rows<Differing>(differingSettings, [projectId, row])));
    }
    return came;
  },
  missing: async () => [],
};

const [clientSecrets] = sealedProjectColumns;
if (!clientSecrets) throw new Error('provider apps have a sealed column');

const nameTaken = 'another one has this name there';

/** Whoever may import into a project is given nothing that concerns all projects of the server. */
const ownScopes = {
  shape: Type.Array(Scope),
  into: `ARRAY(SELECT s FROM unnest(r.scopes) s WHERE s NOT IN (${instanceScopes.map((scope) => `'${scope}'`).join(', ')}))`,
};

const revokes = {
  apiKeys: statement(
    'portable_revoke_apiKeys',
    `UPDATE api_key SET active = false, updated_at = svc_now() WHERE project_id = $1 AND id = ANY($2::text[])`,
  ),
  jwtKeys: statement(
    'portable_revoke_jwtKeys',
    `UPDATE jwt_key SET active = false, updated_at = svc_now() WHERE project_id = $1 AND id = ANY($2::text[])`,
  ),
};

/** Keys that came in and are to be good for nothing until somebody turns them on. */
export async function revokeKeys(
  tx: Queryable,
  projectId: string,
  kind: keyof typeof revokes,
  ids: readonly string[],
): Promise<void> {
  if (ids.length > 0) await tx.rows(revokes[kind], [projectId, ids]);
}

/** A key that was revoked elsewhere does not stay good here. */
const revocation = {
  where: `t.active AND coalesce(t.expires_at > svc_now(), true) AND NOT (r.active AND coalesce(r.expires_at > svc_now(), true))
    AND r.updated_at > t.updated_at`,
  columns: ['active', 'expires_at', 'updated_at'],
};

/** What of this room goes along with a project, in the order in which it comes in. */
export const portableProject: readonly Portable[] = [
  settings,
  portable({
    kind: 'providerApps',
    table: 'provider_app',
    key: { id: uuid },
    columns: {
      provider: text(4_096),
      client_id: text(4_096),
      external_ref: orNull(text(4_096)),
      scopes: orNull(Type.Array(text(500), { maxItems: 500 })),
      metadata: ProviderAppMetadata,
      is_default: Type.Boolean(),
      ...times,
    },
    sealed: { column: 'client_secret', place: clientSecrets.place, shape: text(4_096) },
    only: [
      {
        same: 'o.provider = r.provider AND o.is_default AND r.is_default',
        name: 'r.provider',
        reason: 'another provider app is the default of this provider there',
      },
    ],
  }),
  portable({
    kind: 'integrations',
    table: 'integration',
    key: { id: uuid },
    columns: {
      name: ManifestIntegration.properties.name,
      provider: ManifestIntegration.properties.provider,
      latest_revision_id: uuid,
      ...times,
    },
    called: 't.name',
    only: [{ same: 'o.name = r.name', name: 'r.name', reason: nameTaken }],
    held: 'SHARE',
  }),
  portable({
    kind: 'revisions',
    table: 'revision',
    key: { integration_id: uuid, id: uuid },
    columns: {
      spec_version: Manifest.properties.specVersion,
      content: ManifestIntegration,
      destructive: Type.Boolean(),
      retained: orNull(Type.Array(RetainedObject)),
      created_at: timestamp,
    },
    rules: revisionFaults,
  }),
  portable({
    kind: 'apiKeys',
    table: 'api_key',
    key: { id: Type.String({ pattern: '^[0-9a-z]{8,32}$' }) },
    columns: {
      // SHA-256, as the database writes bytes.
      secret_hash: Type.String({ pattern: '^\\\\x[0-9a-f]{64}$' }),
      label: text(255),
      scopes: ownScopes,
      group_ref: orNull(reference('The group.')),
      active: Type.Boolean(),
      expires_at: orNull(timestamp),
      ...times,
    },
    left: { last_used_at: 'it was not used there' },
    called: 't.label',
    givesWay: revocation,
    only: [
      { same: 'o.id = r.id', name: 'r.id', everywhere: true, reason: 'another project there has this key' },
    ],
  }),
  portable({
    kind: 'jwtKeys',
    table: 'jwt_key',
    key: { id: uuid },
    columns: {
      label: text(255),
      algorithm: Type.Literal('RS256'),
      public_key_pem: text(10_000),
      active: Type.Boolean(),
      expires_at: orNull(timestamp),
      issuer: orNull(text(255)),
      audience: orNull(text(255)),
      ...times,
    },
    rules: pemFaults,
    left: { last_used_at: 'it was not used there' },
    called: 't.label',
    givesWay: revocation,
    only: [
      { same: 'o.id = r.id', name: 'r.id', everywhere: true, reason: 'another project there has this key' },
    ],
  }),
];
