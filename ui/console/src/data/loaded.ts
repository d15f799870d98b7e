import { isAway, isThere } from './api.ts';

const askEveryMs = 2000;

/**
 * Code that is loaded when it is first needed; while the server is away, once it is back: a browser asks for a file that failed no more, and
 * the router loads the document anew then, which would leave the app for an error of the browser. What cannot be loaded from a server
 * that is there, is thrown for that: it is of another release, or failed in the moment before the server was known to be away.
 */
export async function loaded<Module>(load: () => Promise<Module>): Promise<Module> {
  if (isAway.get()) await back();
  try {
    return await load();
  } catch (error) {
    if (!(await isThere())) await back();
    throw error;
  }
}

async function back(): Promise<void> {
  while (!(await isThere())) {
    isAway.set(true);
    await new Promise((resolve) => setTimeout(resolve, askEveryMs));
  }
}
