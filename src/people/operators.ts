import { actAs, record } from '../events/index.ts';
import type { Database } from '../kit/db/database.ts';
import { deleteOwnerLinksFor } from './store/invitations.ts';
import { listEveryProject } from './store/members.ts';
import { findPersonByEmail, holdOperators, unsetOperator } from './store/persons.ts';

/**
 * Takes from a person what makes them an operator, with the links for their address that would give it back. Their roles in projects stay.
 * Throws an Error for an unknown address, for who is no operator, and for the last one.
 */
export async function endOperator(database: Database, email: string): Promise<void> {
  await actAs({ kind: 'operator' }, () =>
    database.transaction(async (tx) => {
      const person = await findPersonByEmail(tx, email.toLowerCase());
      if (!person) throw new Error(`nobody has the e-mail address ${email}`);
      // Before the operators are held: who accepts a link holds it, and then becomes one.
      await deleteOwnerLinksFor(tx, person.email);
      const operators = await holdOperators(tx);
      if (!operators.includes(person.id)) throw new Error(`${email} is no operator`);
      if (operators.length === 1)
        throw new Error(
          `${email} is the last operator; let another one come first (svc people invite --owner)`,
        );
      await unsetOperator(tx, person.id);
      // Of every project: an operator need not be a member.
      for (const { id: projectId } of await listEveryProject(tx))
        await record(tx, {
          projectId,
          action: 'person.updated',
          targetId: person.id,
          details: { operator: false },
        });
    }),
  );
}
