import { Type, type Static } from 'typebox';
import { problem } from '../kit/problem.ts';
import { sealedColumn } from '../kit/rotation.ts';
import type { Vault } from '../kit/vault.ts';
import type { DestinationRow } from './store/destinations.ts';

const closed = { additionalProperties: false } as const;
const FormerSecrets = Type.Object(
  { secrets: Type.Object({}), until: Type.String({ format: 'date-time' }) },
  closed,
);
type FormerSecrets = Static<typeof FormerSecrets>;

/** As they are sealed. `former`: those before each rotation, and until when they are good; the newest first. */
export const StoredSecrets = Type.Object(
  { current: Type.Object({}), former: Type.Optional(Type.Array(FormerSecrets)) },
  closed,
);
export type StoredSecrets = Static<typeof StoredSecrets>;

type Place = Pick<DestinationRow, 'project_id' | 'id'>;

export function sealSecrets(vault: Vault, place: Place, secrets: StoredSecrets): Buffer {
  return vault.seal(secrets, placeOf(place.project_id, place.id));
}

/** Throws credentials-unreadable. */
export function openSecrets(vault: Vault, row: Place & Pick<DestinationRow, 'secrets'>): StoredSecrets {
  try {
    return vault.open(row.secrets, placeOf(row.project_id, row.id)) as StoredSecrets;
  } catch (cause) {
    const detail = `The secrets of the destination ${row.id} cannot be opened here; nothing was sent.`;
    throw problem('credentials-unreadable', { detail, cause });
  }
}

const opened = new WeakMap<object, StoredSecrets>();

/** Once for a row: opening costs more than signing. For rows that are remembered and forgotten soon. */
export function openSecretsOnce(vault: Vault, row: Place & Pick<DestinationRow, 'secrets'>): StoredSecrets {
  const secrets = opened.get(row) ?? openSecrets(vault, row);
  opened.set(row, secrets);
  return secrets;
}

/** A shorter one would take letters out of every word, and a text without it tells as much. */
const leastHidden = 4;

/** What is told of a failure, without the secrets that an answer may repeat: nor the beginning of one, where the text was cut in it. */
export function hideSecrets(text: string, secrets: readonly string[]): string {
  const told = secrets
    .filter((secret) => secret.length >= leastHidden)
    .toSorted((one, other) => other.length - one.length)
    .reduce((all, secret) => all.replaceAll(secret, '***'), text);
  // A character that was cut itself is read as this one.
  const whole = told.replace(/\uFFFD{1,3}$/, '');
  const begun = Math.max(0, ...secrets.map((secret) => begunAtEnd(whole, secret)));
  return begun < leastHidden ? told : `${whole.slice(0, -begun)}***`;
}

/** How many characters of the secret the text ends with. */
function begunAtEnd(text: string, secret: string): number {
  for (let length = Math.min(secret.length, text.length); length >= leastHidden; length--)
    if (text.endsWith(secret.slice(0, length))) return length;
  return 0;
}

/** Those of before that are still good. */
export function formerIn({ former = [] }: StoredSecrets, now: number): FormerSecrets[] {
  return former.filter(({ until }) => Date.parse(until) > now);
}

function placeOf(projectId: string, id: string): string {
  return `${projectId}/${id}/secrets`;
}

/** What this room stores under the master keys. */
export const sealedDestinationColumns = [
  sealedColumn({
    table: 'destination',
    rowId: { column: 'id', first: '00000000-0000-0000-0000-000000000000' },
    column: 'secrets',
    place: (projectId, id) => placeOf(projectId, String(id)),
  }),
];
