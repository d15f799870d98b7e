import { answerOf, type CallOptions, type Calls } from './calls.ts';
import type { Export, ExportRequest, Import, ImportRequest, UndoneExport } from './generated/api.ts';

/** A project that goes to another server. */
export interface Transfer {
  /** All of the project but its history, sealed; with `move` its connections are not used here any more. */
  export(request: ExportRequest, options?: CallOptions): Promise<Export>;
  /** The connections that an export moved are used here again. */
  undoExport(options?: CallOptions): Promise<UndoneExport>;
  /** Takes a file in, whole or not at all; with `dryRun` it tells only what would come in. */
  import(request: ImportRequest, options?: CallOptions): Promise<Import>;
}

const project = '/v1/projects/{projectIdOrName}';

export function transferOf({ api, projectIdOrName }: Calls): Transfer {
  const params = { path: { projectIdOrName } };
  return {
    export: (body, options = {}) => answerOf(api.POST(`${project}/exports`, { params, body, ...options })),
    undoExport: (options = {}) => answerOf(api.POST(`${project}/exports:undo`, { params, ...options })),
    import: (body, options = {}) => answerOf(api.POST(`${project}/imports`, { params, body, ...options })),
  };
}
