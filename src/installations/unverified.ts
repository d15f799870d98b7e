import type { Failure, FailureCategory } from '../providers/index.ts';

/** An object of which the provider was asked and did not say what it has. No failure: there was no answer to judge. */
export interface Unverified {
  objectName: string;
  failure: Failure | undefined;
}

interface Warning {
  message: string;
}

const consequence = 'its objects and fields are as the config names them was not verified.';

export const unanswered: Warning = {
  message: `The provider did not answer: that ${consequence} Save the config again later.`,
};

const remedies: Partial<Record<FailureCategory, string>> = {
  auth: 'Let the customer connect again, and save the config again.',
  permission:
    'Let the customer connect again with the scopes or rights that are missing, for which the provider app must ask, and save the config again.',
};

/** One for each answer: what was answered can be mended, silence only waited for. Pure. */
export function warningsOf(unverified: readonly Unverified[]): Warning[] {
  const objectsBy = new Map<string, { failure: Failure; objects: Set<string> }>();
  for (const { objectName, failure } of unverified) {
    if (!failure?.provider) continue;
    const { objects } = objectsBy.get(failure.message) ?? { objects: new Set<string>() };
    objectsBy.set(failure.message, { failure, objects: objects.add(objectName) });
  }
  const answered = [...objectsBy.values()].map(({ failure: { message, category }, objects }) => {
    const remedy = remedies[category] ?? 'Save the config again later.';
    const said = `The provider did not show ${[...objects].join(', ')}: ${sentence(message)}`;
    return { message: `${said} That ${consequence} ${remedy}` };
  });
  const isSilent = unverified.some(({ failure }) => !failure?.provider);
  return isSilent ? [unanswered, ...answered] : answered;
}

function sentence(message: string): string {
  return /[.!?]$/.test(message) ? message : `${message}.`;
}
