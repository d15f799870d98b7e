import type { Provider } from '../providers/index.ts';

/**
 * What the calls to a host of the provider share with others: the host, last, and before it the provider, where customers have hosts of
 * their own.
 */
export function shareOf({ name, baseURL }: Pick<Provider, 'name' | 'baseURL'>, origin: string): string[] {
  const isForAll = URL.canParse(baseURL) && new URL(baseURL).origin === origin;
  return isForAll ? [origin] : [name, origin];
}
