import { integer, variable, type ValuesOf } from '../kit/variable.ts';

/** Of signing in. */
export const peopleLimits = {
  sessionIdleMinutes: variable({
    name: 'SVC_SESSION_IDLE_MINUTES',
    default: '720',
    read: integer(5, 43_200),
    about: 'A browser in which nobody did anything for so many minutes is signed out.',
  }),
  sessionHours: variable({
    name: 'SVC_SESSION_HOURS',
    default: '168',
    read: integer(1, 2_160),
    about: 'How long somebody stays signed in at the most, in hours.',
  }),
};

declare module '../kit/ground.ts' {
  interface Limits extends ValuesOf<typeof peopleLimits> {}
}

/** A link of an invitation, and that of the first start. */
export const invitationSeconds = 7 * 24 * 3600;
/** The link by which somebody chooses a new password. */
export const resetSeconds = 24 * 3600;
/** Between the password and the second factor. */
export const pendingSeconds = 10 * 60;

/** How failures slow down further attempts: of one e-mail address, of a second factor, and from one network address. */
export const backoff = {
  email: { free: 5, mostSeconds: 15 * 60 },
  secondFactor: { free: 5, mostSeconds: 15 * 60 },
  address: { free: 50, mostSeconds: 15 * 60 },
};
