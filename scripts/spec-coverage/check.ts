import type { Finder } from './find.ts';
import type { SpecItem, SpecSection } from './item.ts';

/** What is wrong with the list: an item that nothing holds, or a test that does not exist. One line each. */
export function faultsOf(sections: readonly SpecSection[], find: Finder): string[] {
  const items = sections.flatMap((section) => section.items);
  const seen = new Set<string>();
  return items.flatMap((item) => {
    const isTwice = seen.has(item.id);
    seen.add(item.id);
    const references = [...item.accepts, ...(typeof item.refuses === 'string' ? [] : item.refuses)];
    return [
      ...(isTwice ? ['stands twice in the list'] : []),
      ...emptiness(item),
      ...references.flatMap((reference) => {
        const fault = find(reference);
        return fault === undefined ? [] : [`${fault}: ${reference}`];
      }),
    ].map((fault) => `${item.id}: ${fault}`);
  });
}

function emptiness(item: SpecItem): string[] {
  if (item.later) return [];
  return [
    ...(item.accepts.length === 0 ? ['no test shows that it is kept'] : []),
    ...(item.refuses.length === 0 ? ['no test shows what is refused'] : []),
  ];
}
