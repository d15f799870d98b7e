import { integer, variable, type ValuesOf } from '../../kit/variable.ts';

/** Of calls through the proxy. */
export const proxyLimits = {
  proxyCallMs: variable({
    name: 'SVC_PROXY_CALL_MS',
    default: '3600000',
    read: integer(100, 86_400_000),
    about:
      'The longest that a call through the proxy may take from when it is sent to the provider, in milliseconds; one that is repeated after a 401 has as long again. `SVC_PROVIDER_CALL_MS` is the longest silence in it.',
  }),
};

declare module '../../kit/ground.ts' {
  interface Limits extends ValuesOf<typeof proxyLimits> {}
}
