/** One entry of a Salesforce error list, of a whole request or of one record. */
type ErrorEntry = { message: string; errorCode: string; fields?: string[]; [extra: string]: unknown };

/** A request that ends with an HTTP error and a list of entries. */
export class ApiError extends Error {
  readonly status: number;
  readonly entries: ErrorEntry[];

  constructor(status: number, entries: ErrorEntry[]) {
    super(entries[0]?.message ?? 'error');
    this.status = status;
    this.entries = entries;
  }
}

/** Builds an `ApiError` of one entry; `fields` is left out unless given. */
export function apiError(status: number, errorCode: string, message: string, fields?: string[]): ApiError {
  return new ApiError(status, [fields ? { message, errorCode, fields } : { message, errorCode }]);
}

export function notFound(message = 'The requested resource does not exist'): ApiError {
  return apiError(404, 'NOT_FOUND', message);
}

/**
 * Why one record was not written. `status` is the HTTP status of the single-record form; in a
 * collection it travels as `statusCode` inside the item.
 */
export type WriteError = {
  statusCode: string;
  message: string;
  fields: string[];
  status?: number;
  /** Only the single-record form carries this, before the other keys (duplicate rules). */
  extra?: Record<string, unknown>;
};

export function writeError(
  statusCode: string,
  message: string,
  fields: string[] = [],
  status = 400,
): WriteError {
  return { statusCode, message, fields, status };
}

/** Turns record errors into the answer of a single-record call. */
export function singleError(errors: WriteError[]): ApiError {
  const status = errors[0]?.status ?? 400;
  return new ApiError(
    status,
    errors.map((e) => ({
      ...e.extra,
      message: e.message,
      errorCode: e.statusCode,
      ...(status === 404 || e.extra ? {} : { fields: e.fields }),
    })),
  );
}

/** The same errors inside a collection result. */
export function itemErrors(
  errors: WriteError[],
): { statusCode: string; message: string; fields: string[] }[] {
  return errors.map((e) => ({ statusCode: e.statusCode, message: e.message, fields: e.fields }));
}
