import { DatabaseError } from 'pg';
import { describeFault, failedToConnect, isRefused } from '../../kit/http/egress.ts';
import type { Delivered } from '../kind.ts';
import { hideSecrets } from '../secrets.ts';
import type { Access } from './session.ts';
import type { TablePlace } from './store.ts';

/** Where a delivery went, for the sentence that tells of its failure. */
export interface Aim extends TablePlace {
  access: Access;
}

/** What the table of an object cannot be used for. Thrown with the remedy. */
export class TableRefused extends Error {
  override readonly name = 'TableRefused';
}

/** The database was silent for the whole time of a delivery. */
export class TimeIsOver extends Error {
  override readonly name = 'TimeIsOver';
}

const longestMessage = 500;

type Failed = Extract<Delivered, { kind: 'failed' }>;

/** What a builder reads in the log of deliveries, without the password. */
export function failureOf(error: unknown, aim: Aim): Failed {
  const sentence = hideSecrets(`${sentenceOf(error, aim)}.`, [aim.access.password]);
  const isSilent = error instanceof TimeIsOver || (failedToConnect(error) && !isRefused(error));
  return { kind: 'failed', error: sentence, ...(isSilent ? { silent: true } : {}) };
}

function sentenceOf(error: unknown, aim: Aim): string {
  if (error instanceof TableRefused || error instanceof TimeIsOver) return error.message;
  if (error instanceof DatabaseError) return answered(error, aim);
  const { code, message } = describeFault(error);
  const { host, port } = aim.access;
  if (isRefused(error)) return `${host}:${port} is not called (egress-refused): ${message}`;
  if (/CERT|ALTNAME|SIGNATURE|ISSUER/.test(code)) {
    return `The certificate of ${host}:${port} is not trusted (${code}): give the server one that is, or choose another sslmode in metadata.url; require encrypts and checks no certificate`;
  }
  if (/does not support SSL/.test(message)) {
    return `The server at ${host}:${port} speaks no TLS: turn it on there, or write sslmode=disable in metadata.url where records may travel in the clear`;
  }
  return failedToConnect(error)
    ? `The database at ${host}:${port} cannot be reached: ${message}`
    : `The connection to ${host}:${port} was lost: ${message}`;
}

type Sentence = (said: string, aim: Aim, error: DatabaseError) => string;

const named = ({ schema, table }: TablePlace): string => JSON.stringify(`${schema}.${table}`);
const quoted = (name: string): string => JSON.stringify(name);

const refusedUser: Sentence = (said, { access }) =>
  `The database refused the user ${quoted(access.user)} (${said}): check the user in metadata.url and secrets.password`;

/** By SQLSTATE, or its class (PostgreSQL, appendix A). */
const sentences: Record<string, Sentence> = {
  '28P01': refusedUser,
  '28000': refusedUser,
  '3D000': (_said, { access }) =>
    `There is no database ${quoted(access.database)}: make it, or name another one in metadata.url`,
  '3F000': (_said, { schema }) =>
    `There is no schema ${quoted(schema)}: make it with CREATE SCHEMA, or name another one in metadata.schema`,
  '42501': (said, aim) =>
    `The user ${quoted(aim.access.user)} lacks a right (${said}): grant it USAGE and CREATE on the schema ${quoted(aim.schema)} and let it own the table ${named(aim)}`,
  '25006': (said) =>
    `The database can only be read (${said}): metadata.url must lead to a server that takes writes`,
  '42P10': (_said, aim) =>
    `The table ${named(aim)} has no primary key (installation_id, record_id): add it, or name another tablePrefix`,
  '0A000': (said, aim) =>
    `The table ${named(aim)} cannot be changed (${said}): remove what depends on the column, or change its type yourself`,
  '57014': (said, aim) =>
    `A statement on the table ${named(aim)} took too long (${said}): look for what holds it up; a column of a large table is better widened by yourself`,
  '55P03': (said, aim) =>
    `The table ${named(aim)} was held by somebody else for too long (${said}): end what holds it`,
  '54011': (said, aim) =>
    `The table ${named(aim)} has no room for another column (${said}): map fewer fields`,
  '54': (said, aim) => `A row has no room in the table ${named(aim)} (${said}): map fewer fields`,
  '22': (said, aim, { column }) =>
    `A value has no room in the table ${named(aim)}${column === undefined ? '' : `, column ${quoted(column)}`} (${said})`,
  '23': (said, aim, { column, constraint }) =>
    `A rule of the table ${named(aim)} refuses a row (${said}): drop ${constraint === undefined ? `the rule of the column ${quoted(column ?? '')}` : `the constraint ${quoted(constraint)}`}, for records come as the provider has them`,
  '53': (said, { access }) => `The database at ${access.host}:${access.port} is out of something (${said})`,
};

function answered(error: DatabaseError, aim: Aim): string {
  const said = error.message.slice(0, longestMessage);
  const code = error.code ?? '';
  const sentence = sentences[code] ?? sentences[code.slice(0, 2)];
  return sentence?.(said, aim, error) ?? `The database answered ${code || 'an error'}: ${said}`;
}
