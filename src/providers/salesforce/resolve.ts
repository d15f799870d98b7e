import { bodyOf, comparable, idOf, isObject, isSuccess, objectsIn, pickFields, textOf } from '../answer.ts';
import type { ObjectDescription, ResolveAbility, StandingRecord } from '../connector.ts';
import { final, invalidCall, type Failure } from '../failure.ts';
import { fieldNamed } from '../read.ts';
import { failureOf } from './failure.ts';
import { isFieldName, longestPath, queryPath } from './paths.ts';
import { literalOf, quoted } from './soql.ts';

const fieldsPerRead = 60;

/** A query by equality on an external id or a unique field: SOQL reads the committed rows. */
export const resolve: ResolveAbility = {
  settleMs: 3_000,
  // The time limit of REST calls.
  longestRequestMs: 600_000,
  // A query shows what sharing lets the user of the connection see.
  seesAll: false,
  // Salesforce shows CreatedDate in whole seconds.
  createdPrecisionMs: 1_000,
  valuesPerRead: 20,
  longestPath,
  uniqueFields(_objectName, description) {
    // Without its time of creation, a new record looks like an older one.
    if (!description?.fields['CreatedDate']) return [];
    return (description.uniqueFields ?? []).filter(({ name }) => isText(description, name));
  },
  faultOfValue(by, value, description) {
    if (literalIn(description, by, value) !== undefined) return undefined;
    const { valueType = 'other' } = (description && fieldNamed(description, by)) ?? {};
    return invalidCall(`${JSON.stringify(value)} is no ${valueType}, which ${by} holds`);
  },
  build(objectName, by, values, fields, description) {
    if (![objectName, by, ...fields].every(isFieldName)) throw new Error('not a name of Salesforce');
    const columns = columnsOf(by, fields).join(', ');
    const literals = values.map((value) => literalIn(description, by, value));
    if (literals.includes(undefined)) throw new Error(`not a value of ${by}`);
    return {
      method: 'GET',
      path: queryPath(`SELECT ${columns} FROM ${objectName} WHERE ${by} IN (${literals.join(', ')})`),
    };
  },
  judge(by, values, fields, answer, description) {
    const body = isSuccess(answer) ? bodyOf(answer) : undefined;
    const rows = isObject(body) ? objectsIn(body['records']) : undefined;
    if (!isObject(body) || !rows || typeof body['done'] !== 'boolean') return { failure: failureOf(answer) };
    if (!body['done']) return { untold: tooMany(by) };
    const found = new Map<string, StandingRecord[]>();
    for (const row of rows) {
      const recordId = idOf(row['Id']);
      const createdAt = Date.parse(textOf(row['CreatedDate']) ?? '');
      const own = pickFields(row, [by])[by];
      if (recordId === undefined || Number.isNaN(createdAt)) return { failure: failureOf(answer) };
      const asked = askedBy(own, values, isCaseSensitive(description, by));
      if (asked.length === 0)
        return {
          untold: { ...failureOf(answer), message: `Salesforce answered with a record of another ${by}` },
        };
      const standing = { recordId, createdAt, fields: pickFields(row, fields) };
      for (const value of asked) found.set(value, [...(found.get(value) ?? []), standing]);
    }
    return { found };
  },
};

/** Each field once: Salesforce refuses a query that names one twice, in whatever case. */
function columnsOf(by: string, fields: readonly string[]): string[] {
  const named = Map.groupBy(['Id', 'CreatedDate', by, ...fields], (name) => name.toLowerCase());
  return [...named.values()].flatMap(([first]) => first ?? []).slice(0, fieldsPerRead);
}

/** A page has 2,000 records; what else stands there is on the next one. */
function tooMany(by: string): Failure {
  const message = `more records than one page of Salesforce holds have this ${by}, so that it tells none of them from the others`;
  return { ...final('conflict'), message };
}

function isCaseSensitive(description: ObjectDescription | undefined, by: string): boolean {
  const known = description?.uniqueFields?.find(({ name }) => name.toLowerCase() === by.toLowerCase());
  return known?.caseSensitive ?? false;
}

/** A value as SOQL writes it for the field, a text where nothing tells its type; undefined where the field cannot hold it. */
function literalIn(
  description: ObjectDescription | undefined,
  by: string,
  value: string,
): string | undefined {
  const field = description && fieldNamed(description, by);
  return field ? literalOf(field, value) : quoted(value);
}

/**
 * The values that a record was found by. Salesforce may count texts as equal that differ in more than their case: then it was found by
 * the one that is alike, if there is one only. With none, it is not known which of the values stands there, or the answer is another one's;
 * beside the same one, whether the query found it by the one that is alike, too.
 */
function askedBy(own: unknown, values: readonly string[], caseSensitive: boolean): string[] {
  if (caseSensitive) return values.filter((one) => one === own);
  const same = values.filter((one) => isSame(own, one));
  if (typeof own !== 'string') return same;
  const alike = values.filter((one) => !same.includes(one) && alphabet.compare(own.trim(), one) === 0);
  if (alike.length === 0) return same;
  return same.length === 0 && alike.length === 1 ? alike : [];
}

/** Compares letters without case, accents and ligatures. */
const alphabet = new Intl.Collator('en', { sensitivity: 'base' });

/** Salesforce shows the number 7 as 7.0, and one of many digits as the double that is next to it. */
function isSame(standing: unknown, asked: string): boolean {
  const own = comparable(standing);
  if (own === undefined || typeof standing === 'string') return own === comparable(asked);
  if (plainNumber(own) === plainNumber(asked)) return true;
  return /[.e]/i.test(own) && Number(own) === Number(asked);
}

/** A number in its one notation: its digits without the zeros around them, and the power of ten that they are multiplied by. */
function plainNumber(text: string): string {
  const form = /^(-?)(\d{1,400})(?:\.(\d{0,400}))?(?:e([+-]?\d{1,4}))?$/i;
  const [, sign = '', whole, part = '', power = '0'] = form.exec(text.trim()) ?? [];
  if (whole === undefined) return text;
  const digits = (whole + part).replace(/^0+/, '');
  if (digits === '') return '0';
  const short = digits.replace(/0+$/, '');
  return `${sign}${short}e${Number(power) - part.length + digits.length - short.length}`;
}

/** Only text fields: a number is another literal, and its equality depends on rounding. */
function isText({ fields }: ObjectDescription, name: string): boolean {
  return fields[name]?.valueType === 'string';
}
