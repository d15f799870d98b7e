import { of } from '../spec-coverage/item.ts';

/** Test files by a short name; each takes titles. */
export const journey = {
  connect: of('test/journeys/connect.test.ts'),
  deploy: of('test/journeys/deploy.test.ts'),
  install: of('test/journeys/install.test.ts'),
  config: of('test/journeys/install-config.test.ts'),
  change: of('test/journeys/install-change.test.ts'),
  write: of('test/journeys/write.test.ts'),
  fields: of('test/journeys/write-fields.test.ts'),
  writeRefusals: of('test/journeys/write-refusals.test.ts'),
  failures: of('test/journeys/write-failures.test.ts'),
  batch: of('test/journeys/write-batch.test.ts'),
  autoBatch: of('test/journeys/auto-batch.test.ts'),
  operations: of('test/journeys/operations.test.ts'),
  proxy: of('test/journeys/proxy.test.ts'),
  targets: of('test/journeys/proxy-targets.test.ts'),
  clients: of('test/journeys/proxy-clients.test.ts'),
  spec: of('test/journeys/spec-surfaces.test.ts'),
};

export const manifest = {
  writeRules: of('src/projects/manifest/rules/write.test.ts'),
  validate: of('src/projects/manifest/validate.test.ts'),
};

export const installation = {
  create: of('src/installations/create.test.ts'),
  change: of('src/installations/change.test.ts'),
  check: of('src/installations/config/check.test.ts'),
  shape: of('src/installations/config/schema.test.ts'),
  masks: of('src/installations/config/masks.test.ts'),
  jsonPatch: of('src/installations/config/json-patch.test.ts'),
  sampling: of('src/installations/config/sampling.test.ts'),
  named: of('src/installations/config/named-fields.test.ts'),
  effectiveWrite: of('src/installations/effective-write.test.ts'),
};

export const write = {
  shape: of('src/actions/write/schema.test.ts'),
  plan: of('src/actions/write/plan.test.ts'),
  fields: of('src/actions/write/fields.test.ts'),
  answer: of('src/actions/write/answer.test.ts'),
};

export const operation = {
  ledger: of('src/operations/operations.test.ts'),
  worker: of('src/operations/worker.test.ts'),
  lanes: of('src/operations/lanes.test.ts'),
  routes: of('src/operations/routes.test.ts'),
  step: of('src/operations/next-step.test.ts'),
  autoBatch: of('src/operations/auto-batch/auto-batch.test.ts'),
};

export const provider = {
  connector: of('src/providers/connector.testsuite.ts'),
};

export const proxy = {
  request: of('src/actions/proxy/request.test.ts'),
  headers: of('src/actions/proxy/headers.test.ts'),
};

export const keys = {
  api: of('src/projects/keys/api-key-routes.test.ts'),
  jwt: of('src/projects/keys/jwt-key-routes.test.ts'),
};
