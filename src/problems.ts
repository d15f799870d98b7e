import { proxyProblems } from './actions/proxy/problems.ts';
import { readProblems } from './actions/read/problems.ts';
import { writeProblems } from './actions/write/problems.ts';
import { connectionProblems } from './connections/problems.ts';
import { deliveryProblems } from './deliveries/problems.ts';
import { eventProblems } from './events/problems.ts';
import { installationProblems } from './installations/problems.ts';
import { operationProblems } from './operations/problems.ts';
import { peopleProblems } from './people/problems.ts';
import { projectProblems } from './projects/problems.ts';
import { providerProblems } from './providers/problems.ts';
import { transferProblems } from './transfer/problems.ts';
import { commonProblems } from './kit/problem-catalogue.ts';
import type { ProblemKind } from './kit/problem-kind.ts';

/** Every problem that this service answers with, by its stable code. The pages in docs/errors derive from it. */
export const problemKinds: Record<string, ProblemKind> = {
  ...commonProblems,
  ...eventProblems,
  ...providerProblems,
  ...projectProblems,
  ...peopleProblems,
  ...connectionProblems,
  ...installationProblems,
  ...operationProblems,
  ...deliveryProblems,
  ...writeProblems,
  ...readProblems,
  ...proxyProblems,
  ...transferProblems,
};
