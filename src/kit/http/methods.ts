import type { RouteOptions } from 'fastify';

/** The methods by which a path can be asked for, of the routes that were noted. */
export interface Methods {
  note(route: Pick<RouteOptions, 'method' | 'url'>): void;
  /** Sorted; empty where no route has the path. */
  of(path: string): string[];
}

export function createMethods(): Methods {
  const noted: { method: string; path: RegExp }[] = [];
  return {
    note({ method, url }) {
      const path = patternOf(url);
      // A HEAD stands beside each GET, and OPTIONS is a browser's.
      for (const one of [method].flat())
        if (one !== 'HEAD' && one !== 'OPTIONS') noted.push({ method: one, path });
    },
    of: (asked) =>
      [...new Set(noted.filter(({ path }) => path.test(asked)).map(({ method }) => method))].toSorted(),
  };
}

/** Of a path as the router takes it: `/a/:id(^[^:]+)::cancel` has a parameter, and `:cancel` behind it. */
function patternOf(url: string): RegExp {
  const parts = url.split(/(::|:\w+(?:\([^)]*\))?|\*)/);
  return new RegExp(`^${parts.map(partOf).join('')}$`);
}

function partOf(part: string): string {
  if (part === '::') return ':';
  if (part === '*') return '.*';
  return part.startsWith(':') ? '[^/]+?' : part.replaceAll('.', String.raw`\.`);
}
