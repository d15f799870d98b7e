import { describeFault, failedToConnect, isRefused } from '../../kit/http/egress.ts';
import type { Delivered } from '../kind.ts';
import { hideSecrets } from '../secrets.ts';
import { NoAmqp } from './frames.ts';
import { NotTaken, Unroutable } from './session.ts';
import type { Access } from './wire.ts';

type Failed = Extract<Delivered, { kind: 'failed' }>;

/** The broker was silent for the whole time of a delivery. */
export class TimeIsOver extends Error {
  override readonly name = 'TimeIsOver';
}

const longestMessage = 500;

/** What a builder reads in the log of deliveries, without the password. */
export function failureOf(error: unknown, access: Access): Failed {
  const isSilent =
    error instanceof TimeIsOver ||
    isBlocked(error) ||
    (failedToConnect(error) && !isRefused(error)) ||
    (error instanceof Error && error.name === 'TimeoutError');
  const sentence = hideSecrets(`${sentenceOf(error, access)}.`, [access.password]);
  return { kind: 'failed', error: sentence, ...(isSilent ? { silent: true } : {}) };
}

function isBlocked(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('Connection blocked');
}

function sentenceOf(error: unknown, access: Access): string {
  const { host, port, exchange } = access;
  const where = `${host}:${port}`;
  if (error instanceof TimeIsOver) return error.message;
  if (error instanceof Unroutable)
    return `No queue takes the routing key ${JSON.stringify(error.message)} of the exchange ${JSON.stringify(exchange)}: bind one, or change metadata.routingKeyTemplate`;
  if (error instanceof NotTaken)
    return `The broker at ${where} did not take the message (${error.message}): look at the limits of the queues behind the exchange ${JSON.stringify(exchange)}`;
  if (error instanceof NoAmqp)
    return `What answered at ${where} is no broker of AMQP 0-9-1 (${error.message}): metadata.url must lead to one`;
  if (isBlocked(error))
    return `The broker at ${where} takes nothing now: give it memory or disk space (${messageOf(error)})`;
  const { code, message } = describeFault(error);
  if (isRefused(error)) return `${where} is not called (egress-refused): ${message}`;
  if (error instanceof Error && error.name === 'TimeoutError')
    return `The broker at ${where} did not let the service in within the time`;
  if (/CERT|ALTNAME|SIGNATURE|ISSUER/.test(code))
    return `The certificate of ${where} is not trusted (${code}): give the broker one that is`;
  if (code.startsWith('ERR_SSL'))
    return `What answered at ${where} speaks no TLS: turn it on there, or write amqp:// in metadata.url where records may travel in the clear`;
  if (failedToConnect(error)) return `The broker at ${where} cannot be reached: ${message}`;
  return closedBy(messageOf(error), access);
}

function messageOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).slice(0, longestMessage);
}

/** What the broker said as it closed the channel or the connection: `… closed: NOT_FOUND - no exchange … (404)`. */
function closedBy(message: string, { host, port, exchange, vhost, username }: Access): string {
  const where = `${host}:${port}`;
  const [, said = '', code = ''] = /closed: (.*) \((\d{3})\)$/s.exec(message) ?? [];
  const who = JSON.stringify(username);
  if (code === '403' && /login was refused/i.test(said))
    return `The broker at ${where} refused the user ${who}: change secrets.username and secrets.password`;
  if (code === '403')
    return `The user ${who} may not write to the exchange ${JSON.stringify(exchange)} (${said}): grant it the permission to write`;
  if (code === '404')
    return `There is no exchange ${JSON.stringify(exchange)} in the virtual host ${JSON.stringify(vhost)}: make it, or name another one in metadata.exchange`;
  if (code === '530')
    return `The virtual host ${JSON.stringify(vhost)} is not there, or not for the user ${who} (${said}): make it, grant access, or name another one in metadata.url`;
  if (code !== '') return `The broker at ${where} ended the connection: ${said} (${code})`;
  return `The connection to the broker at ${where} was lost: ${message}`;
}
