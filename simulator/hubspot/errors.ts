import type { JsonObject, Reply } from '../kit/index.ts';

/** A call we answer with an error; the correlation id is added when it is sent. */
export type Refusal = { refused: true; status: number; body: JsonObject };

export function refuse(status: number, message: string, category?: string, extra: JsonObject = {}): Refusal {
  const base: JsonObject = { status: 'error', message };
  if (category) base['category'] = category;
  return { refused: true, status, body: { ...base, ...extra } };
}

export function isRefusal(value: object): value is Refusal {
  return 'refused' in value && value.refused === true;
}

export function toReply(refusal: Refusal): Reply {
  return { status: refusal.status, body: refusal.body };
}

export function invalid(message: string, extra: JsonObject = {}): Refusal {
  return refuse(400, message, 'VALIDATION_ERROR', extra);
}

export function notFound(): Refusal {
  return refuse(404, 'resource not found', 'OBJECT_NOT_FOUND');
}

export function missingFields(names: string[]): Refusal {
  return invalid(
    `Invalid input JSON on line 1, column 1: Some required fields were not set: [${names.join(', ')}]`,
  );
}

export function notJson(): Refusal {
  return refuse(
    400,
    'Invalid input JSON on line 1, column 1: the body could not be read as a JSON object',
    'VALIDATION_ERROR',
  );
}

export type PropertyFault = { name: string; code: string; message: string };

/** The body for bad property values: a list in JSON inside the message, and again as `errors`. */
export function badProperties(faults: PropertyFault[]): Refusal {
  const inner = faults.map((one) => ({
    isValid: false,
    message: one.message,
    error: one.code,
    name: one.name,
  }));
  return invalid(`Property values were not valid: ${JSON.stringify(inner)}`, {
    errors: faults.map((one) => ({
      message: one.message,
      code: one.code,
      context: { propertyName: [one.name] },
    })),
  });
}

export function conflict(singular: string, existingId: string): Refusal {
  const name = singular.charAt(0).toUpperCase() + singular.slice(1);
  return refuse(409, `${name} already exists. Existing ID: ${existingId}`, 'CONFLICT');
}

export function missingScopes(scopes: string[], inErrors: boolean): Refusal {
  const context = { requiredGranularScopes: scopes };
  const message =
    "This app hasn't been granted all required scopes to make this call. Read more about required scopes here: https://developers.hubspot.com/scopes.";
  return refuse(403, message, 'MISSING_SCOPES', {
    ...(inErrors
      ? { errors: [{ message: 'One or more of the following scopes are required.', context }] }
      : { context }),
    links: { scopes: 'https://developers.hubspot.com/scopes' },
  });
}
