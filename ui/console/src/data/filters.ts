import { useNavigate, useSearch } from '@tanstack/react-router';

export type Filters = Record<string, string>;

/** For the `validateSearch` of a route: of the query of its address, what it knows. */
export const known =
  <Name extends string>(...names: readonly Name[]) =>
  (search: Record<string, unknown>): { [name in Name]?: string } =>
    Object.fromEntries(
      Object.entries(search).filter(([name, value]) => names.includes(name as Name) && value),
    ) as { [name in Name]?: string };

/** The filters of a page, which stand in its address; empty is none. */
export function useFilters<Known extends Filters = Filters>(): {
  filters: Partial<Known>;
  setFilters: (changed: Partial<Known>) => void;
} {
  const filters = useSearch({ strict: false } as never) as Partial<Known>;
  const navigate = useNavigate();
  return {
    filters,
    setFilters: (changed) => {
      const next = Object.entries({ ...filters, ...changed }).filter(([, value]) => value);
      void navigate({ to: '.', search: Object.fromEntries(next) as never, replace: true });
    },
  };
}

/** Addresses as people write them: text only, no JSON. */
export const parseSearch = (text: string): Filters => Object.fromEntries(new URLSearchParams(text));

export function stringifySearch(search: Record<string, unknown>): string {
  const entries = Object.entries(search).filter(([, value]) => value !== undefined && value !== '');
  const text = new URLSearchParams(entries.map(([name, value]) => [name, String(value)])).toString();
  return text && `?${text}`;
}
