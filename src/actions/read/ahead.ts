interface State<Item> {
  waiting: { item: Item } | undefined;
  /** The source has ended, or threw this. */
  end: { error?: unknown } | undefined;
  isOver: boolean;
  /** Resolved at each change, and then made anew. */
  changed: PromiseWithResolvers<void>;
}

type Join<Item> = (one: Item, next: Item) => Item | undefined;

/**
 * Takes from the source while its own taker is busy, and gives what came meanwhile as one. `join` makes one of two, or answers undefined where that
 * would be too much: then the source rests until the first was taken.
 */
export async function* ahead<Item>(
  source: AsyncIterable<Item>,
  join: Join<Item>,
): AsyncGenerator<Item, void> {
  const state: State<Item> = {
    waiting: undefined,
    end: undefined,
    isOver: false,
    changed: Promise.withResolvers(),
  };
  void pump(source, join, state);
  try {
    for (;;) {
      const { waiting, end } = state;
      if (waiting) {
        state.waiting = undefined;
        tell(state);
        yield waiting.item;
      } else if (!end) await state.changed.promise;
      else if ('error' in end) throw end.error;
      else return;
    }
  } finally {
    state.isOver = true;
    tell(state);
  }
}

async function pump<Item>(source: AsyncIterable<Item>, join: Join<Item>, state: State<Item>): Promise<void> {
  try {
    for await (const item of source) {
      await put(item, join, state);
      if (state.isOver) return;
    }
    state.end = {};
  } catch (error) {
    state.end = { error };
  } finally {
    tell(state);
  }
}

async function put<Item>(item: Item, join: Join<Item>, state: State<Item>): Promise<void> {
  while (!state.isOver) {
    const { waiting } = state;
    const whole = waiting ? join(waiting.item, item) : item;
    if (whole !== undefined) {
      state.waiting = { item: whole };
      return tell(state);
    }
    await state.changed.promise;
  }
}

function tell<Item>(state: State<Item>): void {
  const { changed } = state;
  state.changed = Promise.withResolvers();
  changed.resolve();
}
