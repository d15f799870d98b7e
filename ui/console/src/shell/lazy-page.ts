import { lazyRouteComponent } from '@tanstack/react-router';
import { loaded } from '../data/loaded.ts';

/** A page whose code is loaded when it is first shown. */
export const lazyPage = <Module extends Record<Name, unknown>, Name extends string>(
  load: () => Promise<Module>,
  name: Name,
) => lazyRouteComponent(() => loaded(load), name);
