import { writeError, type WriteError } from '../errors.ts';
import { normalizeId } from '../ids.ts';
import type { Field } from '../schema/fields.ts';
import { asText } from '../text.ts';
import type { Value } from './store.ts';
import { formatDatetime, parseDate, parseDatetime } from './times.ts';

/** A value as it will be stored, or why it cannot be. */
type Coerced = { ok: true; value: Value } | { ok: false; error: WriteError };

const good = (value: Value): Coerced => ({ ok: true, value });
const bad = (code: string, message: string, f: Field): Coerced => ({
  ok: false,
  error: writeError(code, message, [f.name]),
});

/** Turns one written value into its stored form; null, `""` and blanks all store null. */
export function coerce(f: Field, input: unknown): Coerced {
  const raw = typeof input === 'string' ? input.trim() : input;
  if (raw === null || raw === undefined || raw === '') return empty(f);
  return (coercers[f.type] ?? coerceText)(f, raw);
}

const coercers: Partial<Record<Field['type'], (f: Field, raw: unknown) => Coerced>> = {
  boolean: coerceBoolean,
  int: coerceNumber,
  double: coerceNumber,
  currency: coerceNumber,
  percent: coerceNumber,
  date: coerceTime,
  datetime: coerceTime,
  time: coerceTime,
  id: coerceId,
  reference: coerceId,
  address: mismatch,
};

function empty(f: Field): Coerced {
  if (f.type !== 'boolean') return good(null);
  return bad('INVALID_TYPE_ON_FIELD_IN_RECORD', `${f.label}: value not of required type: `, f);
}

function mismatch(f: Field, raw: unknown): Coerced {
  const token = typeof raw === 'object' ? 'START_OBJECT' : `VALUE_${(typeof raw).toUpperCase()}`;
  const message = `Cannot deserialize instance of ${f.type} from ${token} value ${asText(raw)} or request may be missing a required field at [line:1, column:1]`;
  return { ok: false, error: writeError('JSON_PARSER_ERROR', message) };
}

function coerceBoolean(f: Field, raw: unknown): Coerced {
  if (typeof raw === 'boolean') return good(raw);
  if (raw === 'true' || raw === 'TRUE' || raw === '1') return good(true);
  if (raw === 'false' || raw === 'FALSE' || raw === '0') return good(false);
  return mismatch(f, raw);
}

function coerceNumber(f: Field, raw: unknown): Coerced {
  const n = typeof raw === 'number' ? raw : typeof raw === 'string' ? Number(raw) : Number.NaN;
  if (!Number.isFinite(n)) return mismatch(f, raw);
  if (f.type === 'int' && !Number.isInteger(n)) return mismatch(f, raw);
  const digits = f.precision - f.scale;
  if (f.precision > 0 && Math.abs(n) >= 10 ** digits) {
    return bad(
      'NUMBER_OUTSIDE_VALID_RANGE',
      `${f.label}: value outside of valid range on numeric field: ${n}`,
      f,
    );
  }
  return good(f.type === 'int' ? n : Number(n.toFixed(Math.min(f.scale, 15))));
}

function coerceTime(f: Field, raw: unknown): Coerced {
  if (typeof raw !== 'string') return mismatch(f, raw);
  if (f.type === 'time') return /^\d\d:\d\d:\d\d(\.\d{1,3})?Z?$/.test(raw) ? good(raw) : mismatch(f, raw);
  const ms = parseDatetime(raw);
  if (f.type === 'date') {
    const day = parseDate(raw) ?? (ms === undefined ? undefined : new Date(ms).toISOString().slice(0, 10));
    return day === undefined ? mismatch(f, raw) : good(day);
  }
  const instant = ms ?? (parseDate(raw) ? Date.parse(`${raw}T00:00:00Z`) : undefined);
  return instant === undefined ? mismatch(f, raw) : good(formatDatetime(instant));
}

function coerceId(f: Field, raw: unknown): Coerced {
  const id = typeof raw === 'string' ? normalizeId(raw) : undefined;
  if (id !== undefined) return good(id);
  return bad('MALFORMED_ID', `${f.label}: id value of incorrect type: ${asText(raw)}`, f);
}

function coerceText(f: Field, raw: unknown): Coerced {
  if (typeof raw !== 'string') return mismatch(f, raw);
  if (f.length > 0 && raw.length > f.length) {
    return bad('STRING_TOO_LONG', `${f.label}: data value too large: ${raw} (max length=${f.length})`, f);
  }
  if (f.type === 'email' && !/^[^\s@<>()[\],;:"]+@[^\s@<>()[\],;:"]+\.[A-Za-z0-9-]{2,}$/.test(raw)) {
    return bad('INVALID_EMAIL_ADDRESS', `${f.label}: invalid email address: ${raw}`, f);
  }
  if (f.restricted) return coercePicklist(f, raw);
  return good(raw);
}

function coercePicklist(f: Field, raw: string): Coerced {
  const chosen = f.type === 'multipicklist' ? raw.split(';').map((v) => v.trim()) : [raw];
  const known = chosen.map((v) => f.picklist.find((p) => p.toLowerCase() === v.toLowerCase()));
  const wrong = chosen.find((_, i) => known[i] === undefined);
  if (wrong === undefined) return good(known.join(';'));
  return bad(
    'INVALID_OR_NULL_FOR_RESTRICTED_PICKLIST',
    `${f.label}: bad value for restricted picklist field: ${wrong}`,
    f,
  );
}
