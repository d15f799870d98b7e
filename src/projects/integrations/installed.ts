import type { Queryable } from '../../kit/db/database.ts';
import type { DeployedChange, DeployImpact } from '../schema.ts';
import type { Finding } from '../manifest/finding.ts';
import type { DeployPlan, IntegrationPlan } from './deploy-plan.ts';
import { impactsOf, mostQuestions, questionsOf, warningsOf, type Answer, type Question } from './impacts.ts';

/** Who knows the installations of an integration. */
export interface Installed {
  count(db: Queryable, projectId: string, integrationId: string): Promise<number>;
  /** An answer to each question, from one statement. */
  answer(
    db: Queryable,
    projectId: string,
    integrationId: string,
    questions: readonly Question[],
  ): Promise<Answer[]>;
  /** What connections of them were not granted. */
  missingScopes(
    db: Queryable,
    projectId: string,
    integration: { id: string; provider: string },
  ): Promise<DeployImpact[]>;
}

interface Asking {
  db: Queryable;
  projectId: string;
  installed: Installed;
}

interface Terms {
  destructive: boolean;
  at: string;
}

/** A warning for each thing that a deploy takes from installations that exist, or leaves to them. */
export async function findImpacts(asking: Asking, plan: DeployPlan, terms: Terms): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const step of plan.integrations) {
    const { questions, answers } = await ask(asking, step, terms);
    findings.push(...warningsOf(questions, answers));
  }
  return findings;
}

/** The plan as it is shown: what changes, for how many installations and which, and the warnings of that. */
export async function showImpacts(
  asking: Asking,
  plan: DeployPlan,
  terms: Terms,
): Promise<{ integrations: DeployedChange[]; warnings: Finding[] }> {
  const warnings: Finding[] = [];
  const integrations: DeployedChange[] = [];
  for (const step of plan.integrations) {
    const { questions, answers, leftOut } = await ask(asking, step, terms);
    warnings.push(...warningsOf(questions, answers));
    integrations.push({
      ...step.shown,
      ...(await countOf(asking, step)),
      impacts: [...impactsOf(questions, answers), ...(await scopesOf(asking, step))],
      ...(leftOut > 0 ? { leftOut } : {}),
    });
  }
  return { integrations, warnings };
}

async function ask(
  { db, projectId, installed }: Asking,
  step: IntegrationPlan,
  terms: Terms,
): Promise<{ questions: Question[]; answers: Answer[]; leftOut: number }> {
  if (step.change !== 'updated') return { questions: [], answers: [], leftOut: 0 };
  const all = questionsOf(step, terms);
  const questions = all.slice(0, mostQuestions);
  const answers = questions.length > 0 ? await installed.answer(db, projectId, step.live.id, questions) : [];
  return { questions, answers, leftOut: all.length - questions.length };
}

async function countOf(
  { db, projectId, installed }: Asking,
  step: IntegrationPlan,
): Promise<{ installations: number }> {
  if (step.change === 'created') return { installations: 0 };
  return { installations: await installed.count(db, projectId, step.live.id) };
}

async function scopesOf(
  { db, projectId, installed }: Asking,
  step: IntegrationPlan,
): Promise<DeployImpact[]> {
  return step.change === 'updated' ? installed.missingScopes(db, projectId, step.live) : [];
}
