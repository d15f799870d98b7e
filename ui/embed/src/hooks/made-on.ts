import type { ConfigContent, Installation } from '@svc/client';

/** What the edits of a draft were made on; they share it, so that all know when one of them was saved. */
export interface MadeOn {
  /** `null` where nothing was installed, `undefined` while nobody knew. */
  base: Installation | null | undefined;
  /** The draft that was saved last. */
  saved?: ConfigContent;
}

const known = new WeakMap<ConfigContent, MadeOn>();

/** Remembers with a config that is given away what it was made on. */
export function rememberMadeOn(config: ConfigContent, madeOn: MadeOn): ConfigContent {
  known.set(config, madeOn);
  return config;
}

/** What is edited from now on is made on what was saved. */
export function rememberSaved(config: ConfigContent, saved: Installation): void {
  const madeOn = known.get(config);
  if (madeOn) Object.assign(madeOn, { base: saved, saved: config });
}

/**
 * What a config is sent upon: the `base` that came with it, what it was made on, or what is installed where neither is known of it. Answers
 * `undefined` where something is installed that it was not made on: it was begun where nothing was, or before anybody knew.
 */
export async function sentUpon(
  config: ConfigContent,
  base: Installation | undefined,
  installed: () => Promise<Installation | null>,
): Promise<Installation | null | undefined> {
  const madeOn = known.get(config);
  const own = base ?? madeOn?.base;
  if (own) return own;
  const found = await installed();
  return madeOn && found ? undefined : found;
}
