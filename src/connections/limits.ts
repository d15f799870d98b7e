import { integer, variable, type ValuesOf } from '../kit/variable.ts';

/** Of the calls to providers. */
export const callLimits = {
  providerCallMs: variable({
    name: 'SVC_PROVIDER_CALL_MS',
    default: '60000',
    read: integer(100, 600_000),
    about:
      'The longest that one provider call may take, in milliseconds; a token endpoint has a limit of its own.',
  }),
};

/** The longest text that is kept of why credentials do not work. */
export const mostStatusDetail = 10_000;

declare module '../kit/ground.ts' {
  interface Limits extends ValuesOf<typeof callLimits> {}
}
