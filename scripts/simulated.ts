/** What points the platform at the simulators, beside what the environment names already. */
export function simulated(
  origins: Record<string, string>,
  egressAllow: string,
  given: NodeJS.ProcessEnv = process.env,
): { SVC_PROVIDER_ORIGINS: string; SVC_EGRESS_ALLOW: string } {
  const ours = Object.entries(origins).map((pair) => pair.join('='));
  // Of two origins for one provider the later holds.
  return {
    SVC_PROVIDER_ORIGINS: joined(...ours, given['SVC_PROVIDER_ORIGINS']),
    SVC_EGRESS_ALLOW: joined(egressAllow, given['SVC_EGRESS_ALLOW']),
  };
}

function joined(...lists: (string | undefined)[]): string {
  return lists.filter(Boolean).join(',');
}
