import { declareProblems } from '../kit/problem-catalogue.ts';
import { kind, type ProblemKind } from '../kit/problem-kind.ts';

export const installationProblems = {
  'installation-not-found': kind(
    404,
    'There is no installation',
    'Create an installation of this integration for the group first.',
    'The group has no installation of this integration, or the installation belongs to another project or group.',
  ),
  'object-not-in-manifest': kind(
    404,
    'The object is not declared',
    'Add the object to the integration in `svc.yaml` and deploy it.',
    'The write names an object that the latest revision of the integration does not declare under `write.objects`.',
  ),
  'config-changed': kind(
    409,
    'The config was changed by somebody else',
    'Get the installation again, and make the change on the config that it has now.',
    'The change named with `ifConfigId` the config that it was made on, and the installation has another one by now. Nothing was saved.',
  ),
  'config-invalid': kind(
    422,
    'The config is not valid',
    'Correct what `issues` names.',
    'The config of an installation breaks a rule of ours, of the integration or of the provider. Nothing was saved.',
  ),
  'sample-read-failed': kind(
    422,
    'The provider refused the sample read',
    'Correct the config as the provider says, or pass `skipSampling=true` to save without the check.',
    'Before a read config is saved, one record of each object is read to see that the object and its fields exist. The provider answered that the request is wrong.',
  ),
  'no-usable-connection': kind(
    422,
    'The group has no usable connection',
    'Connect the group first: POST /v1/oauth-connect, or connections:generate for credentials at hand.',
    'The installation or the call needs a connection of this group to the provider of the integration, and there is none, or its credentials stopped working.',
  ),
  'connection-provider-mismatch': kind(
    422,
    'The connection is of another provider',
    'Name a connection whose provider is the one of the integration.',
    'The connection and the integration name different providers.',
  ),
} as const satisfies Record<string, ProblemKind>;

declareProblems(installationProblems);

declare module '../kit/problem-kind.ts' {
  interface DeclaredProblems {
    installationProblems: typeof installationProblems;
  }
}
