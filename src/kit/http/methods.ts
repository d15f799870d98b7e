import type { RouteOptions } from 'fastify';

/** The methods by which a path can be asked for, of the routes that were noted. */
export interface Methods {
  note(route: Pick<RouteOptions, 'method' | 'url'>): void;
  /** What helps whoever asked for a path by a method that it does not take; undefined where no route is like it. */
  remedyFor(method: string, path: string): string | undefined;
}

export function createMethods(): Methods {
  const noted: { method: string; path: RegExp }[] = [];
  /** Sorted; empty where no route has the path. */
  const of = (asked: string): string[] =>
    [...new Set(noted.filter(({ path }) => path.test(asked)).map(({ method }) => method))].toSorted();
  return {
    remedyFor(method, path) {
      const all = path.replace(/\/[^/]+(:[a-z-]+)$/i, '$1');
      if (all !== path && of(all).includes(method)) return `There is ${method} ${all}, not for one alone.`;
      const taken = of(path);
      return taken.length > 0 ? `This path takes ${taken.join(' and ')}.` : undefined;
    },
    note({ method, url }) {
      const path = patternOf(url);
      // A HEAD stands beside each GET, and OPTIONS is a browser's.
      for (const one of [method].flat())
        if (one !== 'HEAD' && one !== 'OPTIONS') noted.push({ method: one, path });
    },
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
