/** Where something stands in a manifest: keys and indexes from the root. */
export type Path = readonly (string | number)[];

/** What a rule found, before it has a line: rules are pure and know no file. */
export interface Finding {
  severity: 'error' | 'warning';
  rule: string;
  path: Path;
  message: string;
  suggestion?: string;
}

export function failed(rule: string, path: Path, message: string, suggestion?: string): Finding {
  return { severity: 'error', rule, path, message, ...(suggestion === undefined ? {} : { suggestion }) };
}

export function warned(rule: string, path: Path, message: string, suggestion?: string): Finding {
  return { ...failed(rule, path, message, suggestion), severity: 'warning' };
}

const plainKey = /^[A-Za-z_][\w-]*$/;

/** `['integrations', 0, 'name']` as `integrations[0].name`; a key with other characters stands in brackets and quotes. */
export function renderPath(path: Path): string {
  return path.reduce<string>((text, segment) => {
    if (typeof segment === 'number') return `${text}[${segment}]`;
    if (!plainKey.test(segment)) return `${text}[${JSON.stringify(segment)}]`;
    return text === '' ? segment : `${text}.${segment}`;
  }, '');
}
