import { apiError, type ApiError } from '../errors.ts';

const noteOnField =
  "If you are attempting to use a custom field, be sure to append the '__c' after the custom field name. Please reference your WSDL or the describe call for the appropriate names.";
const noteOnObject =
  "If you are attempting to use a custom object, be sure to append the '__c' after the entity name. Please reference your WSDL or the describe call for the appropriate names.";

/** The excerpt, the caret under the place, and the row and column that precede SOQL messages. */
function located(soql: string, pos: number, message: string): string {
  const start = Math.max(0, pos - 40);
  const excerpt = soql.slice(start, pos + 40);
  return `\n${excerpt}\n${' '.repeat(pos - start)}^\nERROR at Row:1:Column:${pos + 1}\n${message}`;
}

export function malformed(soql: string, pos: number, message: string): ApiError {
  return apiError(400, 'MALFORMED_QUERY', located(soql, pos, message));
}

/** A syntax error without a place, as Salesforce gives for an unexpected word. */
export function unexpected(text: string): ApiError {
  return apiError(400, 'MALFORMED_QUERY', `unexpected token: '${text}'`);
}

export function noColumn(soql: string, pos: number, name: string, entity: string): ApiError {
  const message = `No such column '${name}' on entity '${entity}'. ${noteOnField}`;
  return apiError(400, 'INVALID_FIELD', located(soql, pos, message));
}

export function noRelationship(soql: string, pos: number, name: string): ApiError {
  const message = `Didn't understand relationship '${name}' in field path. If you are attempting to use a custom relationship, be sure to append the '__r' after the custom relationship name. Please reference your WSDL or the describe call for the appropriate names.`;
  return apiError(400, 'INVALID_FIELD', located(soql, pos, message));
}

export function noChildren(soql: string, pos: number, name: string): ApiError {
  const message = `Didn't understand relationship '${name}' in FROM part of query call. If you are attempting to use a custom relationship, be sure to append the '__r' after the custom relationship name. Please reference your WSDL or the describe call for the appropriate names.`;
  return apiError(400, 'INVALID_TYPE', located(soql, pos, message));
}

export function noObject(soql: string, pos: number, name: string): ApiError {
  return apiError(
    400,
    'INVALID_TYPE',
    located(soql, pos, `sObject type '${name}' is not supported. ${noteOnObject}`),
  );
}

/** A field that exists but cannot stand here. */
export function badField(soql: string, pos: number, message: string): ApiError {
  return apiError(400, 'INVALID_FIELD', located(soql, pos, message));
}
