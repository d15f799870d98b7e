import { stringify } from 'yaml';

/** For people to read. */
export function yamlText(value: object): string {
  return stringify(value, { lineWidth: 0 });
}
