import { writeError, type WriteError } from '../errors.ts';
import { findField, type SObject } from '../schema/object-types.ts';
import { getRow, lookup, type Row, type Store, type Value } from './store.ts';

type Action = 'alert' | 'block';

/**
 * Records of `object` that agree in all `fields` are duplicates; `alert` may be saved over, `block` not.
 * `onUpdate` says what an edit meets, the same as a create unless it is given.
 */
export type DuplicateRule = {
  name: string;
  object: string;
  fields: string[];
  mode: Action;
  onUpdate?: Action | 'allow';
};

type Rules = { store: Store; duplicateRules: DuplicateRule[]; allowSave: boolean };

/** The refusal of a write that a duplicate rule catches, in Salesforce's own spelling. */
export function checkDuplicates(
  { store, duplicateRules, allowSave }: Rules,
  object: SObject,
  draft: Record<string, Value>,
  before?: Row,
): WriteError | undefined {
  for (const rule of duplicateRules) {
    const action = before ? (rule.onUpdate ?? rule.mode) : rule.mode;
    if (rule.object.toLowerCase() !== object.name.toLowerCase()) continue;
    if (action === 'allow' || (action === 'alert' && allowSave)) continue;
    if (before && !touches(rule, object, before, draft)) continue;
    const matches = matching(store, rule, object, draft).filter((row) => row['Id'] !== before?.['Id']);
    if (matches.length > 0) return refusal(rule, action, object, matches);
  }
  return undefined;
}

/** An edit meets a rule only when it changes a field that the rule compares. */
function touches(rule: DuplicateRule, object: SObject, before: Row, draft: Record<string, Value>): boolean {
  return rule.fields
    .map((name) => findField(object, name))
    .some((f) => f !== undefined && (before[f.name] ?? null) !== (draft[f.name] ?? null));
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

function refusal(rule: DuplicateRule, action: Action, object: SObject, matches: Row[]): WriteError {
  const message =
    action === 'alert'
      ? 'Use one of these records?'
      : "You're creating a duplicate record. We recommend you use an existing record instead.";
  const duplicateResut = {
    allowSave: action === 'alert',
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
