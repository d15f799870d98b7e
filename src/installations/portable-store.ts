import { Type } from 'typebox';
import { portable, type Portable } from '../kit/db/portable.ts';
import { text, timestamp, times, uuid } from '../kit/db/portable-schema.ts';
import { reference } from '../kit/reference-schema.ts';
import { standingReadIssues } from './config/read-rules.ts';
import { ConfigContent } from './config/schema.ts';

const ofOperations = 'it is counted from operations, which stay behind';

/** What of this room goes along with a project, in the order in which it comes in. */
export const portableInstallations: readonly Portable[] = [
  portable({
    kind: 'installations',
    table: 'installation',
    key: { id: uuid },
    columns: {
      integration_id: uuid,
      group_ref: reference('The group.'),
      connection_id: uuid,
      config_id: uuid,
      created_by: Type.String({ maxLength: 1_000 }),
      ...times,
    },
    left: {
      last_operation_status: ofOperations,
      recent_operations: ofOperations,
      recent_failures: ofOperations,
    },
    called: 't.group_ref',
    held: 'KEY SHARE',
    only: [
      {
        same: 'o.integration_id = r.integration_id AND o.group_ref = r.group_ref',
        name: 'r.group_ref',
        reason: 'another installation of this group is there for the same integration',
      },
      // One whose connection was deleted comes in as it is, and gets that of nobody else.
      {
        of: 'connection',
        same: 'o.id = r.connection_id AND o.group_ref <> r.group_ref',
        name: 'r.group_ref',
        reason: 'its connection is that of another group there',
      },
    ],
  }),
  portable({
    kind: 'configs',
    table: 'config',
    key: { installation_id: uuid, id: uuid },
    columns: {
      revision_id: uuid,
      created_by: text(1_000),
      content: ConfigContent,
      created_at: timestamp,
    },
    rules: ({ content }: { content: ConfigContent }) => standingReadIssues(content, 'content'),
  }),
];
