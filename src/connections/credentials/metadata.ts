import type { ConnectionPlace, Provider } from '../../providers/index.ts';
import { refuse } from '../../kit/problem.ts';
import type { ProviderMetadata } from '../schema.ts';

/** The known metadata with what a token response adds; undefined when nothing changes, so that nothing is written. */
export function mergeMetadata(
  known: ProviderMetadata,
  found: ProviderMetadata,
): ProviderMetadata | undefined {
  const isNew = Object.entries(found).some(([name, item]) => known[name]?.value !== item.value);
  return isNew ? { ...known, ...found } : undefined;
}

/** What decides the provider's address for a connection. The instance URL is kept among the metadata, under its own name. */
export function placeOf(
  provider: Provider,
  workspaceRef: string | null | undefined,
  metadata: ProviderMetadata,
): ConnectionPlace {
  const values = Object.fromEntries(Object.entries(metadata).map(([name, { value }]) => [name, value]));
  const field = provider.instanceUrl?.tokenField;
  return { workspaceRef, metadata: values, instanceUrl: field === undefined ? undefined : values[field] };
}

interface Asked {
  providerWorkspaceRef?: string;
  providerMetadata?: ProviderMetadata;
}

/**
 * The catalogue names the account among the inputs, as `workspace`; it is taken from there, and kept in one place. Throws
 * invalid-request when the request says two.
 */
export function withWorkspace<Request extends Asked>(request: Request): Request {
  const { workspace, ...providerMetadata } = request.providerMetadata ?? {};
  if (!workspace) return request;
  if (workspace.value === '') return { ...request, providerMetadata };
  const { providerWorkspaceRef = workspace.value } = request;
  if (providerWorkspaceRef === workspace.value) return { ...request, providerWorkspaceRef, providerMetadata };
  const detail = 'must be the same as providerWorkspaceRef, or not be sent';
  throw refuse([{ in: 'body', name: 'providerMetadata.workspace', detail, value: workspace.value }]);
}
