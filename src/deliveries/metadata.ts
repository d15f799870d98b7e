import { compileCheck } from '../kit/http/validation.ts';
import type { Issue } from '../kit/problem.ts';
import type { CheckContext, DestinationKind } from './kind.ts';

type Check = ReturnType<typeof compileCheck>;
const checks = new WeakMap<object, Check>();

function checkOf(schema: object): Check {
  const check = checks.get(schema) ?? compileCheck(schema);
  checks.set(schema, check);
  return check;
}

/** What is wrong with the metadata and the secrets of a destination: their shape first, then what the kind says. */
export function faultsOf(
  kind: DestinationKind,
  { metadata, secrets }: { metadata: object; secrets: object },
  context: CheckContext,
): Issue[] {
  const shape = [
    ...checkOf(kind.metadata)(metadata, 'body', 'metadata').issues,
    ...checkOf(kind.secrets)(secrets, 'body', 'secrets').issues,
  ];
  return shape.length > 0 ? shape : kind.check(metadata, context);
}
