import { projectId } from './api-story.ts';
import { fileVersion } from './transfer/schema.ts';

const file = {
  format: 'svc-project',
  version: fileVersion,
  project: 'mailmonkey',
  createTime: '2026-03-02T09:12:44.120Z',
  moved: true,
  counts: { integrations: 1, connections: 1, installations: 1, configs: 1 },
  salt: 'Yk3wq0m5rS1t8uVxZbCdEg==',
  data: 'q83vEjRWeJCrze8SNFZ4kA…',
};
const passphrase = 'correct horse battery staple';

/** Examples of taking a project to another server, by the name of their schema. */
export const transferExamples = {
  ProjectFile: file,
  ExportRequest: { passphrase, move: true },
  Export: { file, warnings: [] },
  UndoneExport: { connections: 1 },
  ImportRequest: { passphrase, file, dryRun: true },
  Import: {
    projectId,
    dryRun: true,
    created: file.counts,
    replaced: { integrations: 0, connections: 0, installations: 0, configs: 0 },
    unchanged: { integrations: 0, connections: 0, installations: 0, configs: 0 },
    warnings: [],
  },
};
