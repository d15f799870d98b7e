import { describe, expect, it } from 'vitest';
import type { ProposedTarget } from '../../../installations/index.ts';
import type { Limits } from '../../../kit/ground.ts';
import { Problem } from '../../../kit/problem.ts';
import { scopeOf } from './scope.ts';

describe('actions/write/prepare/scope', () => {
  const target = {
    integrationName: 'crm',
    provider: 'hubspot',
    manifest: {
      name: 'crm',
      provider: 'hubspot',
      read: { objects: [{ objectName: 'contacts', destination: 'inbox', mapToName: 'People' }] },
      write: { objects: [{ objectName: 'contacts' }, { objectName: 'companies' }] },
    },
    content: { provider: 'hubspot' },
  } as unknown as ProposedTarget;
  const refusalOf = (objectName: string): Pick<Problem, 'message' | 'code'> & { remedy: string } => {
    try {
      scopeOf(target, objectName, {} as Limits);
    } catch (error) {
      if (error instanceof Problem)
        return { message: error.message, code: error.code, remedy: error.details.remedy ?? '' };
    }
    throw new Error('it was not refused');
  };

  it.each([
    ['people', 'people is your name of contacts, for what is read.', 'Write to contacts.'],
    [
      'contactz',
      'does not declare contactz under write.objects; did you mean contacts?',
      'Write to contacts, or add contactz under `write.objects` of the integration in `svc.yaml` and deploy it.',
    ],
    ['invoices', 'does not declare invoices under write.objects.', ''],
  ])('an object that is not written, %s: %s', (name, detail, remedy) => {
    const refusal = refusalOf(name);
    expect(refusal).toMatchObject({ code: 'object-not-in-manifest', remedy });
    expect(refusal.message).toContain(detail);
  });
});
