/** The options that make the members of requests which svc may find fault with. */
const options: Readonly<Record<string, string>> = {
  action: '--action',
  destination: '--into',
  errorCategory: '--category',
  eventTypes: '<events>',
  expiresAt: '--expires',
  from: '--from',
  groupRef: '--group',
  'idempotency-key': '--idempotency-key',
  installationId: '--installation',
  label: '--label',
  object: '--object',
  recordId: '--record-id',
  scopes: '--scope',
  sinceTimestamp: '--since',
  to: '--to',
  untilTimestamp: '--until',
  updateMask: '--part',
  upsertBy: '--by',
  'x-svc-installation-id': '--installation',
  'metadata.url': '--address',
  'filter.destination': '--destination',
};

/** What a request says and an option makes, within a sentence of svc. */
const words: readonly (readonly [RegExp, string])[] = [
  [/\bdestructive=true\b/g, '--destructive'],
  [/\bwith "move"/g, 'with --move'],
  [/`upsertBy`/g, '--by'],
  [/`type: "(\w+)"`/g, '--type $1'],
];

/** A sentence of svc, by the options of this program. */
export function inOptions(sentence: string): string {
  return words.reduce((text, [said, option]) => text.replaceAll(said, option), sentence);
}

/** A sentence of svc that begins with the member of a request, by the option that made the member. */
export function withOption(said: string): string {
  const sentence = inOptions(said);
  const [, path] = /^([\w.[\]-]+): /.exec(sentence) ?? [];
  if (path === undefined) return sentence;
  const [content, rest] = /^(?:installation\.)?config\.content\.?([\w.[\]-]*)/.exec(path) ?? [];
  if (content === path) return `--config ${rest}${sentence.slice(path.length)}`;
  const plain = path.replaceAll(/\[\d+\]/g, '').replace(/^routes\./, '');
  const option = options[plain] ?? options[plain.replace(/^filter\./, '')];
  return option === undefined ? sentence : option + sentence.slice(path.length);
}
