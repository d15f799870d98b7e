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
  'x-svc-installation-id': '--installation',
  'metadata.url': '--address',
  'filter.destination': '--destination',
};

/** A sentence of svc that begins with the member of a request, by the option that made the member. */
export function withOption(sentence: string): string {
  const [, path] = /^([\w.[\]-]+): /.exec(sentence) ?? [];
  if (path === undefined) return sentence;
  const [content, rest] = /^(?:installation\.)?config\.content\.?([\w.[\]-]*)/.exec(path) ?? [];
  if (content === path) return `--config ${rest}${sentence.slice(path.length)}`;
  const plain = path.replaceAll(/\[\d+\]/g, '').replace(/^routes\./, '');
  const option = options[plain] ?? options[plain.replace(/^filter\./, '')];
  return option === undefined ? sentence : option + sentence.slice(path.length);
}
