import { integer, variable, type ValuesOf } from '../kit/variable.ts';

/** How long a token endpoint has for its answer: half of the refresh lease, so that a call never outlives that. */
export const tokenTimeoutMs = 45_000;

/** Of the calls to providers. */
export const callLimits = {
  providerCallMs: variable({
    name: 'SVC_PROVIDER_CALL_MS',
    default: '60000',
    read: integer(100, 600_000),
    about: `The longest that one provider call may take, in milliseconds; a call to a token endpoint has ${tokenTimeoutMs / 1_000} s.`,
  }),
};

/** The longest text that is kept of why credentials do not work. */
export const mostStatusDetail = 10_000;

declare module '../kit/ground.ts' {
  interface Limits extends ValuesOf<typeof callLimits> {}
}
