import type { ComponentType } from 'react';
import type { Answers, Refused } from './answers.ts';
import { providers } from './fixtures.ts';
import type { Walk } from './walk.ts';

export interface State {
  /** Component and state, such as `ConnectProvider / waiting`. */
  name: string;
  component: ComponentType<object>;
  props?: object;
  answers: Answers;
  /** What becomes of a window that is opened; `open` unless told. */
  window?: 'open' | 'blocked' | 'closed';
  /** As the address has it on the way back from a provider. */
  returned?: string;
  /** How a person comes to it. */
  walk?: (by: Walk) => Promise<unknown>;
}

export const refused = (code: string, status: number, detail: string): Refused => ({
  refused: { code, status, detail },
});
export const primary = '.svc-button-primary';
export const see = (selector: string) => (by: Walk) => by.see(selector);
export const submit = (by: Walk) => by.click(primary);
export const oauth: Answers = {
  provider: providers.oauth,
  connect: 'https://provider.example.com/authorize',
};
