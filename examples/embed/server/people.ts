/** Who may sign in. A real application asks for a password. */
export const people = {
  ada: { name: 'Ada', company: 'Acme Inc.', groupRef: 'acme' },
  grace: { name: 'Grace', company: 'Globex', groupRef: 'globex' },
} as const;

export type PersonName = keyof typeof people;
export const isPerson = (name: string): name is PersonName => Object.hasOwn(people, name);
