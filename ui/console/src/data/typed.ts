/** What was typed and is not saved: what was changed once more while it was saved stays. */
export function without<Typed extends object>(typed: Typed, saved: Partial<Typed>): Partial<Typed> {
  return Object.fromEntries(
    Object.entries(typed).filter(([name, value]) => saved[name as keyof Typed] !== value),
  ) as Partial<Typed>;
}
