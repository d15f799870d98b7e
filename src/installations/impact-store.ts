import { findMissingScopes } from '../connections/index.ts';
import type { Queryable } from '../kit/db/database.ts';
import { statement } from '../kit/db/statement.ts';
import { mostShown, type Answer, type Installed, type Question } from '../projects/index.ts';

const count = statement(
  'installations_count_of',
  `SELECT count(*)::integer AS count FROM installation WHERE project_id = $1 AND integration_id = $2`,
);

// Each config is looked for by its whole key (LIMIT: before there are statistics, another plan compares all with all), and taken
// apart once for each action, however many objects are asked about.
const answer = statement(
  'installations_answer',
  `WITH question AS MATERIALIZED (
     SELECT action, lower(object) AS object, named, until, lower(field) AS field, if_selected, if_unselected, unless_all,
       lower(unless_mapped) AS unless_mapped, unless_own, place
     FROM unnest($3::text[], $4::text[], $5::boolean[], $6::timestamptz[], $7::text[], $8::boolean[], $9::boolean[],
       $10::boolean[], $11::text[], $12::text[])
       WITH ORDINALITY AS q (action, object, named, until, field, if_selected, if_unselected, unless_all, unless_mapped,
         unless_own, place)),
   object AS (SELECT DISTINCT action, object FROM question),
   config AS MATERIALIZED (
     SELECT n.id, n.group_ref, n.created_at, a.action, c.content #>> '{proxy,enabled}' = 'false' AS is_without_proxy,
       (SELECT jsonb_object_agg(lower(one.value ->> 'objectName'), one.value)
         FROM json_each(c.content -> a.action -> 'objects') AS one) AS objects
     FROM installation n
     CROSS JOIN LATERAL (SELECT content FROM config c
       WHERE c.project_id = n.project_id AND c.installation_id = n.id AND c.id = n.config_id LIMIT 1) c
     CROSS JOIN (SELECT DISTINCT action FROM object) a
     WHERE n.project_id = $1 AND n.integration_id = $2),
   member AS MATERIALIZED (
     SELECT c.id, c.group_ref, c.created_at, o.action, o.object, e.value IS NOT NULL AS named,
       coalesce(e.value ->> 'selectedFieldsAuto' = 'all', false) AS reads_all,
       ARRAY(SELECT lower(key) FROM jsonb_each_text(e.value -> 'selectedFields') WHERE value = 'true') AS selected,
       ARRAY(SELECT lower(key) FROM jsonb_object_keys(e.value -> 'selectedFieldMappings') AS key) AS mapped,
       ARRAY[CASE WHEN e.value ->> 'schedule' IS NOT NULL THEN 'schedule' END,
         CASE WHEN e.value ->> 'inheritMapping' IS NOT NULL THEN 'inheritMapping' END,
         CASE WHEN c.is_without_proxy THEN 'proxy' END] AS own
     FROM config c JOIN object o ON o.action = c.action CROSS JOIN LATERAL (SELECT c.objects -> o.object AS value) e),
   found AS (
     SELECT q.place, m.id, m.group_ref, m.named, row_number() OVER newest AS nth, count(*) OVER newest_of AS count,
       count(*) FILTER (WHERE m.named) OVER newest_of AS count_named
     FROM question q JOIN member m ON m.action = q.action AND m.object = q.object
     WHERE (m.named OR m.created_at <= q.until) AND (q.named IS NULL OR q.named = m.named)
       AND CASE WHEN q.field IS NULL THEN true WHEN q.field = ANY (m.selected) THEN q.if_selected ELSE q.if_unselected END
       AND NOT (q.unless_all AND m.reads_all)
       AND (q.unless_mapped IS NULL OR q.unless_mapped <> ALL (m.mapped))
       AND (q.unless_own = ANY (m.own)) IS NOT TRUE
     WINDOW newest_of AS (PARTITION BY q.place), newest AS (PARTITION BY q.place ORDER BY m.id DESC))
   SELECT place::integer, count::integer, count_named::integer AS named,
     json_agg(json_build_object('id', id, 'groupRef', group_ref) ORDER BY nth) AS installations
   FROM found WHERE nth <= ${mostShown} GROUP BY place, count, count_named`,
);

const using = statement(
  'installations_using',
  `SELECT asked.scope, count(*)::integer AS count,
     (array_agg(json_build_object('id', n.id, 'groupRef', n.group_ref) ORDER BY n.id DESC))[1:${mostShown}] AS installations
   FROM unnest($3::text[], $4::uuid[]) AS asked (scope, connection_id)
   JOIN installation n ON n.project_id = $1 AND n.integration_id = $2 AND n.connection_id = asked.connection_id
   GROUP BY asked.scope ORDER BY asked.scope`,
);

/** Answers of installations to what a deploy asks. */
export const installed: Installed = {
  count: async (db, projectId, integrationId) => {
    const [row] = await db.rows<{ count: number }>(count, [projectId, integrationId]);
    return row?.count ?? 0;
  },
  answer: answerAll,
  missingScopes: async (db, projectId, { id, provider }) => {
    const missing = [...(await findMissingScopes(db, projectId, provider))].flatMap(([scope, ids]) =>
      ids.map((connectionId) => ({ scope, connectionId })),
    );
    if (missing.length === 0) return [];
    const columns = [missing.map(({ scope }) => scope), missing.map(({ connectionId }) => connectionId)];
    type Row = { scope: string } & Pick<Answer, 'count' | 'installations'>;
    const rows = await db.rows<Row>(using, [projectId, id, ...columns]);
    return rows.map(({ scope, count: lacking, installations }) => ({
      kind: 'lacksScope',
      scope,
      count: lacking,
      installations,
    }));
  },
};

async function answerAll(
  db: Queryable,
  projectId: string,
  integrationId: string,
  questions: readonly Question[],
): Promise<Answer[]> {
  const all = <Value>(of: (question: Question) => Value | undefined): (Value | null)[] =>
    questions.map((question) => of(question) ?? null);
  const rows = await db.rows<Answer & { place: number }>(answer, [
    projectId,
    integrationId,
    all(({ action }) => action),
    all(({ objectName = '' }) => objectName),
    all(({ named }) => named),
    all(({ until }) => until),
    all(({ reading }) => reading?.fieldName),
    all(({ reading }) => reading?.cases.includes('selected')),
    all(({ reading }) => reading?.cases.includes('unselected')),
    all(({ unlessAll }) => unlessAll ?? false),
    all(({ unlessMapped }) => unlessMapped),
    all(({ unlessOwn }) => unlessOwn),
  ]);
  const answers: Answer[] = questions.map(() => ({ count: 0, named: 0, installations: [] }));
  for (const { place, ...one } of rows) answers[place - 1] = one;
  return answers;
}
