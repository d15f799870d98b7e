/** What a search asks for. */
export interface Sought {
  /** Ids that begin as the text does; null where it cannot begin one. */
  range: { from: string; to: string } | null;
  text: string;
  /** Also what only who may do everything sees: keys, and who changed what. */
  isFull: boolean;
}

/** Something that was found: what it is, and where it lives. */
export interface Found {
  type: string;
  id: string;
  name?: string | null;
  groupRef?: string | null;
  integrationId?: string | null;
  installationId?: string | null;
  operationId?: string | null;
}

/** Of one sort at the most. */
export const mostOfASort = 5;

/** SQL: a name with its project, as it is indexed. */
export const searchKey = (column: string): string => `(project_id::text || lower(${column})) COLLATE "C"`;

/** SQL: whether a name of the project `$1` begins as the parameter does, whatever the case; by the index of {@link searchKey}. */
export const beginsWith = (column: string, parameter: string): string =>
  `${searchKey(column)} >= $1::uuid::text || lower(${parameter}::text)
     AND ${searchKey(column)} < $1::uuid::text || lower(${parameter}::text) || chr(1114111)`;

/** SQL: one branch of a search; its sorts do not push one another out. */
export const branch = (select: string): string => `(${select} LIMIT ${mostOfASort})`;
