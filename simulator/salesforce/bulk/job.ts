type JobState = 'Open' | 'UploadComplete' | 'InProgress' | 'JobComplete' | 'Failed' | 'Aborted';

/** One Bulk API 2.0 job. The work is done when the job is handed over; only its state takes time to show. */
export type BulkJob = {
  id: string;
  kind: 'query' | 'ingest';
  operation: string;
  object: string;
  createdById: string;
  createdAt: number;
  version: number;
  state: JobState;
  /** Reads that still find it in progress. */
  pollsLeft: number;
  columnDelimiter: string;
  lineEnding: string;
  externalIdFieldName: string | null;
  errorMessage: string | null;
  upload: string | null;
  /** Input columns of an ingest job, result columns of a query job. */
  columns: string[];
  /** Query result rows. */
  rows: string[][];
  /** Ingest rows with their two leading `sf__` cells. */
  successful: string[][];
  failed: string[][];
  unprocessed: string[][];
};
