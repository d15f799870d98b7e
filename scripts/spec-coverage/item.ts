/** One line of the specification and the tests that hold it. */
export interface SpecItem {
  /** Section and a short name, `2.4/schedule`. */
  id: string;
  says: string;
  /** Tests in which the line is kept, as `path/of/file.test.ts > title` or a part of the title that only one test has. */
  accepts: readonly string[];
  /** Tests in which what breaks the line is refused, or why there is nothing to refuse. */
  refuses: readonly string[] | `nothing to refuse: ${string}`;
  /** What later work brings; tests are then of what holds already. */
  later?: string;
}

export interface SpecSection {
  title: string;
  items: readonly SpecItem[];
}

/** Names the tests of one file. */
export function of(file: string): (...titles: string[]) => string[] {
  return (...titles) => titles.map((title) => `${file} > ${title}`);
}
