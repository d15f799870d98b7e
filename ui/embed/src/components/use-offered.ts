import { useEffect, useMemo } from 'react';
import type { HydratedRevision } from '@svc/client';
import { offeredIn, takenIn } from '../state/offered.ts';
import type { OfferedMappings } from '../state/offered.ts';

/** What the builder offers and can be asked for; whoever built the page reads what cannot. */
export function useOffered(given: unknown, revision: HydratedRevision | undefined): OfferedMappings {
  const { value, faults } = useMemo(() => offeredIn(given), [given]);
  const taken = useMemo(() => (revision ? takenIn(revision, value) : []), [revision, value]);
  const told = [...faults, ...taken].join('\n');
  useEffect(() => {
    if (told === '') return;
    // oxlint-disable-next-line no-console -- for whoever built the page
    for (const fault of told.split('\n')) console.error(`@svc/embed: ${fault}; it is left out`);
  }, [told]);
  return value;
}
