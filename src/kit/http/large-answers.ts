/** Of an answer so many bytes are read, however many answers there are. */
export const smallAnswerBytes = 2 * 1024 * 1024;

/** Answers larger than that which are read at once: in all, of one origin, and there for one of those on whose behalf it is called. */
export interface LargeAnswerLimits {
  atOnce: number;
  ofOrigin: number;
  ofOne: number;
}

export interface LargeAnswers {
  /** Where there is no room at once, `onRoom` is called when there is. */
  enter(origin: string, whose: string | undefined, onRoom: () => void): Place;
}

interface Place {
  /** At once. */
  readonly hasRoom: boolean;
  /** Gives the room back, or up; again, nothing. */
  leave(): void;
}

interface Answer extends Place {
  origin: string;
  whose: string | undefined;
  onRoom(): void;
}

/** Bounds the memory that answers take while they are read. Whoever waits for room is not read on. */
export function createLargeAnswers({ atOnce, ofOrigin, ofOne }: LargeAnswerLimits): LargeAnswers {
  const reading = new Set<Answer>();
  const waiting = new Set<Answer>();

  function hasRoomFor({ origin, whose }: Pick<Answer, 'origin' | 'whose'>): boolean {
    const same = [...reading].filter((other) => other.origin === origin);
    const own = whose === undefined ? [] : same.filter((other) => other.whose === whose);
    return reading.size < atOnce && same.length < ofOrigin && own.length < ofOne;
  }

  function serve(): void {
    for (const answer of waiting) {
      if (!hasRoomFor(answer)) continue;
      waiting.delete(answer);
      reading.add(answer);
      // In a turn of its own: undici reads one connection at a time.
      setImmediate(() => answer.onRoom());
    }
  }

  return {
    enter(origin, whose, onRoom) {
      const answer: Answer = {
        origin,
        whose,
        onRoom,
        hasRoom: hasRoomFor({ origin, whose }),
        leave() {
          waiting.delete(answer);
          if (reading.delete(answer)) serve();
        },
      };
      (answer.hasRoom ? reading : waiting).add(answer);
      return answer;
    },
  };
}

/** Of this process (docs/operating.md, Memory). */
export const largeAnswers = createLargeAnswers({ atOnce: 32, ofOrigin: 8, ofOne: 3 });
