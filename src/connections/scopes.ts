/** Of OpenID Connect: they ask for more than an access token, and answers leave them out. */
const unechoed = new Set(['openid', 'profile', 'email', 'offline_access']);

/** What the provider app asks for and the customer, or the provider, did not grant. Nothing where it is not known what was. */
export function notGranted({
  scopes,
  app_scopes: wanted,
}: {
  scopes: readonly string[] | null;
  app_scopes: readonly string[] | null;
}): string[] {
  const granted = new Set(scopes?.map((scope) => scope.toLowerCase()));
  if (granted.size === 0) return [];
  return (wanted ?? []).filter((scope) => !unechoed.has(scope) && !granted.has(scope.toLowerCase()));
}
