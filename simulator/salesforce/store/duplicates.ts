import { writeError, type WriteError } from '../errors.ts';
import { findField, type SObject } from '../schema/object-types.ts';
import { getRow, lookup, type Row, type Store, type Value } from './store.ts';

/** Records of `object` that agree in all `fields` are duplicates; `alert` may be saved over, `block` not. */
export type DuplicateRule = { name: string; object: string; fields: string[]; mode: 'alert' | 'block' };

/** The refusal of a create that a duplicate rule catches, in Salesforce's own spelling (providers S4). */
export function checkDuplicates(
  store: Store,
  rules: DuplicateRule[],
  object: SObject,
  draft: Record<string, Value>,
  allowSave: boolean,
): WriteError | undefined {
  for (const rule of rules) {
    if (rule.object.toLowerCase() !== object.name.toLowerCase()) continue;
    if (rule.mode === 'alert' && allowSave) continue;
    const matches = matching(store, rule, object, draft);
    if (matches.length > 0) return refusal(rule, object, matches);
  }
  return undefined;
}

function matching(store: Store, rule: DuplicateRule, object: SObject, draft: Record<string, Value>): Row[] {
  const fields = rule.fields.map((name) => findField(object, name)).filter((f) => f !== undefined);
  const [first, ...others] = fields;
  if (!first) return [];
  return lookup(store, object, first, draft[first.name] ?? null)
    .map((id) => getRow(store, object, id))
    .filter((row) => row !== undefined)
    .filter((row) => others.every((f) => sameText(row[f.name], draft[f.name])));
}

function sameText(a: Value | undefined, b: Value | undefined): boolean {
  return String(a ?? '').toLowerCase() === String(b ?? '').toLowerCase() && (a ?? null) !== null;
}

function refusal(rule: DuplicateRule, object: SObject, matches: Row[]): WriteError {
  const message =
    rule.mode === 'alert'
      ? 'Use one of these records?'
      : "You're creating a duplicate record. We recommend you use an existing record instead.";
  const duplicateResut = {
    allowSave: rule.mode === 'alert',
    duplicateRule: rule.name,
    duplicateRuleEntityType: object.name,
    errorMessage: message,
    matchResults: [
      {
        entityType: object.name,
        errors: [],
        matchEngine: 'FuzzyMatchEngine',
        matchRecords: matches.map((row) => ({
          additionalInformation: [],
          fieldDiffs: [],
          matchConfidence: 100,
          record: { attributes: { type: object.name }, Id: row['Id'] },
        })),
        rule: rule.name.replace('_Duplicate_Rule', '_Match_Rule_v1_1'),
        size: matches.length,
        success: true,
      },
    ],
  };
  return { ...writeError('DUPLICATES_DETECTED', message), extra: { duplicateResut } };
}
