/** Members of the API that the pages call otherwise. */
const words: Readonly<Record<string, string>> = {
  groupRef: 'Group',
  consumerRef: 'Consumer',
  createTime: 'Made',
  expiresAt: 'Holds until',
  updateTime: 'Last change',
};

/** A member of an answer of the API, as people say it: `keepDays.proxyLogs` is "Keep days › proxy logs". */
export function wordOf(member: string): string {
  const known = words[member];
  if (known !== undefined) return known;
  const spaced = member
    .replaceAll(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .replaceAll('.', ' › ');
  return spaced.charAt(0).toUpperCase() + spaced.slice(1);
}
