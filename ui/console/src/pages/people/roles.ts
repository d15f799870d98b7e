import type { Member } from '@svc/client';

type Role = Member['role'];

/** What each role may do, for people. */
export const roles: Record<Role, readonly [title: string, about: string]> = {
  owner: ['Owner', 'Everything, people and keys with all rights too.'],
  developer: ['Developer', 'Everything but people and keys with all rights.'],
  support: ['Support', 'Sees everything but secrets; retries, resolves, replays and pauses.'],
  viewer: ['Viewer', 'Sees everything but secrets, and changes nothing.'],
};

export const roleOptions = (Object.entries(roles) as [Role, readonly [string, string]][]).map(
  ([value, [label]]) => ({ value, label }),
);
