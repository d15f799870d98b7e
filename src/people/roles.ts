import type { Scope } from '../projects/schema.ts';
import type { Role } from './schema.ts';

/** What each role reaches, in the scopes that keys have. */
export const scopesOf: Record<Role, readonly Scope[]> = {
  owner: ['full'],
  developer: ['develop'],
  support: ['view', 'remediate'],
  viewer: ['view'],
};
