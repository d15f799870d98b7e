import { answerOf, type ProviderInfo } from '../../ui/client/src/index.ts';
import { connect, type ConnectionOptions } from './connection.ts';
import { sayList, sayOne, type ListOptions } from './rows.ts';

/** `svc providers search`: those of which name, words or labels hold every word. */
export async function searchProviders(words: readonly string[], options: ListOptions): Promise<void> {
  const { api } = await connect(options);
  const catalogue = await answerOf(api.GET('/v1/providers'));
  const wanted = words.map((word) => word.toLowerCase());
  const found = Object.values(catalogue)
    .filter((provider) => wanted.every((word) => textOf(provider).includes(word)))
    .toSorted((a, b) => a.name.localeCompare(b.name));
  await sayList(options, iterated(found), {
    name: ({ name }) => name,
    'shown as': ({ displayName }) => displayName,
    connects: ({ authType }) => authType,
    does: (provider) => abilitiesOf(provider),
  });
}

/** `svc providers get`. */
export async function getProvider(provider: string, options: ConnectionOptions): Promise<void> {
  const { api } = await connect(options);
  await sayOne(
    options,
    await answerOf(api.GET('/v1/providers/{provider}', { params: { path: { provider } } })),
  );
}

function textOf({ name, displayName, labels, authType }: ProviderInfo): string {
  return [name, displayName, authType, ...Object.values(labels ?? {})].join(' ').toLowerCase();
}

function abilitiesOf({ support }: ProviderInfo): string[] {
  return (['read', 'write', 'delete', 'subscribe', 'proxy'] as const).filter((name) => support[name]);
}

async function* iterated<Item>(items: readonly Item[]): AsyncGenerator<Item> {
  yield* items;
}
