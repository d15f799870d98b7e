import { Type } from 'typebox';
import { portable, type Portable } from '../kit/db/portable.ts';
import { orNull, text, timestamp, times, uuid } from '../kit/db/portable-schema.ts';
import { reference } from '../kit/reference-schema.ts';
import { SealedSecrets, sealedCredentials } from './credentials/index.ts';
import { AuthScheme, ConnectionStatus, ProviderMetadata } from './schema.ts';

const held = 'a node there holds it for a moment';
/**
 * The generation tells whose credentials are newer. A file that was made here, by the move or before it, has no greater one; where
 * they were used since, it grew with each renewal and with the move from there. That they died there does not make them newer.
 */
const isNewer = `(r.generation > t.generation OR r.generation = t.generation AND r.status = 'bad_credentials')`;
const ref = reference('As the builder names it.');

/** What of this room goes along with a project, in the order in which it comes in. */
export const portableConnections: readonly Portable[] = [
  portable({
    kind: 'groups',
    table: 'customer_group',
    key: { group_ref: ref },
    columns: { name: text(255), ...times },
  }),
  portable({
    kind: 'consumers',
    table: 'group_consumer',
    key: { group_ref: ref, consumer_ref: ref },
    columns: { name: text(255), ...times },
  }),
  portable({
    kind: 'connections',
    table: 'connection',
    key: { id: uuid },
    columns: {
      provider: text(255),
      provider_app_id: orNull(uuid),
      group_ref: ref,
      consumer_ref: ref,
      workspace_ref: orNull(text(255)),
      provider_consumer_ref: orNull(text(2_000)),
      auth_scheme: AuthScheme,
      status: {
        shape: ConnectionStatus,
        as: `CASE WHEN t.moved_at IS NULL THEN t.status ELSE 'created' END`,
      },
      status_detail: {
        shape: orNull(Type.String({ maxLength: 10_000 })),
        as: 'CASE WHEN t.moved_at IS NULL THEN t.status_detail END',
      },
      provider_metadata: ProviderMetadata,
      scopes: orNull(Type.Array(Type.String({ maxLength: 4_096 }))),
      generation: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
      access_issued_at: orNull(timestamp),
      access_expires_at: orNull(timestamp),
      ...times,
    },
    left: {
      refresh_lease: held,
      refresh_lease_until: held,
      keep_alive_at: held,
      unauthorized_at: 'it is about the token in place there',
      refused_since: 'it is about the token in place there',
      moved_at: 'it is not moved away from where it comes in',
    },
    called: 't.group_ref',
    givesWay: {
      where: `t.moved_at IS NOT NULL AND ${isNewer}
        AND (t.provider, t.group_ref, t.consumer_ref) = (r.provider, r.group_ref, r.consumer_ref)`,
      also: {
        moved_at: 'NULL',
        refresh_lease: 'NULL',
        refresh_lease_until: 'NULL',
        keep_alive_at: 'NULL',
        unauthorized_at: 'NULL',
        refused_since: 'NULL',
      },
    },
    differs: 't.moved_at IS NULL AND r.generation > t.generation',
    sealed: { column: 'credentials', place: sealedCredentials.place, shape: SealedSecrets },
  }),
];
