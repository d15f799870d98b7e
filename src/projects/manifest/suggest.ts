import { nearest } from '../../kit/nearest.ts';

/** The suggestion in words, if there is one. */
export function didYouMean(text: string, candidates: readonly string[]): string | undefined {
  const found = nearest(text, candidates);
  return found === undefined ? undefined : `Did you mean ${found}?`;
}
