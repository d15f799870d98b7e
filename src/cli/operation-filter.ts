import type { Operations } from '../../ui/client/src/index.ts';

type Filter = NonNullable<Parameters<Operations['find']>[0]>;

/** The options that say which operations are meant. */
export interface FilterOptions extends Pick<Filter, 'status' | 'object' | 'partlyDone' | 'from' | 'to'> {
  category?: NonNullable<Filter['errorCategory']>;
  group?: string;
  installation?: string;
}

/** The same for the API; all that is asked for holds. */
export function filterOf(options: FilterOptions): Filter {
  const { status, object, partlyDone, from, to, category, group, installation } = options;
  const asked = { status, object, partlyDone, from, to };
  const others = { errorCategory: category, groupRef: group, installationId: installation };
  return Object.fromEntries(
    Object.entries({ ...asked, ...others }).filter(([, value]) => value !== undefined),
  ) as Filter;
}
