import type { ProviderDeclaration } from './declaration/schema.ts';

/** A provider as loaded: its file, with every URL at the operator's origin where one was given. */
export interface Provider extends ProviderDeclaration {
  origin?: string;
}
