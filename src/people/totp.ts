import { Secret, TOTP } from 'otpauth';

const issuer = 'svc';
const period = 30;
/** A clock may be half a minute off. */
const window = 1;

/** A new secret, in base32. */
export const newSecret = (): string => new Secret({ size: 20 }).base32;

const totpOf = (secret: string, label?: string): TOTP =>
  new TOTP({ secret: Secret.fromBase32(secret), period, issuer, ...(label === undefined ? {} : { label }) });

/** What an authenticator app scans. */
export const uriOf = (secret: string, email: string): string => totpOf(secret, email).toString();

/** The time step that the code is of; undefined for a wrong one. */
export function stepOf(secret: string, code: string, now = Date.now()): number | undefined {
  const delta = totpOf(secret).validate({ token: code, window, timestamp: now });
  return delta === null ? undefined : Math.floor(now / 1000 / period) + delta;
}
