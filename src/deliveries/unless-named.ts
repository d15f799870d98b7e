/** What lets data of customers travel in the clear: the operator names the address. */
export function unlessNamed(host: string, port: number): string {
  const shown = host.includes(':') ? `[${host}]` : host;
  return `unless SVC_EGRESS_ALLOW names ${shown}:${port}, which a range does not`;
}
