import { declareProblems } from '../../kit/problem-catalogue.ts';
import { kind, type ProblemKind } from '../../kit/problem-kind.ts';

export const readProblems = {
  'read-not-configured': kind(
    422,
    'The integration does not read',
    'Add a `read` block to the integration in `svc.yaml` and deploy it.',
    'The integration declares no read action, or its provider cannot be read.',
  ),
  'read-disabled': kind(
    422,
    'Reading of the object is switched off',
    'Set `disabled: false` for the object in the installation’s config.',
    'The config of the installation switches reading of the object off. Nothing was read.',
  ),
  'object-not-in-config': kind(
    422,
    'The object is not configured to be read',
    'Add the object to `read.objects` of the installation’s config, or set `enabled: always` for it in `svc.yaml`.',
    'The integration declares the object, and the config of the installation does not have it. Nothing was read.',
  ),
  'no-destination': kind(
    422,
    'There is no destination for the records',
    'Name a destination in `svc.yaml` or in the config of the installation, and create it (POST …/destinations) or enable it (POST …/destinations/{name}:enable).',
    'What is read goes to a destination. The object names none, or one that does not exist or is disabled. Nothing was read.',
  ),
  'filter-invalid': kind(
    422,
    'The filter is not valid',
    'Correct what `issues` names.',
    'A filter names a field that the object does not have at the provider, or a value that cannot be compared. The provider was not asked.',
  ),
} as const satisfies Record<string, ProblemKind>;

declareProblems(readProblems);

declare module '../../kit/problem-kind.ts' {
  interface DeclaredProblems {
    readProblems: typeof readProblems;
  }
}
