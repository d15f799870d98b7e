import { useQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { leave, sessionQuery } from '../../data/session.ts';
import { ChangePassword } from '../../forms/password-change.tsx';
import { AddSecondFactor, RemoveSecondFactor } from '../../forms/second-factor.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Facts, Page, Section } from '../../ui/page.tsx';
import { Sessions } from './sessions.tsx';

type Doing = 'password' | 'add' | 'remove';

/** Who one is here, how one signs in, and where one is signed in. */
export function AccountPage(): ReactNode {
  const { data } = useQuery(sessionQuery);
  const [doing, setDoing] = useState<Doing>();
  const close = (): void => setDoing(undefined);
  if (!data) return null;
  const { secondFactor, hasPassword, email, name } = data.person;
  return (
    <Page
      title="Account"
      actions={
        <>
          <Button onClick={() => setDoing('password')}>Change the password</Button>
          <Button onClick={() => setDoing(secondFactor ? 'remove' : 'add')}>
            {secondFactor ? 'Remove the second factor' : 'Add a second factor'}
          </Button>
          <Button onClick={() => void leave()}>Sign out</Button>
        </>
      }
    >
      <Facts
        of={[
          ['E-mail', email],
          ['Name', name],
          [
            'Second factor',
            <Badge key="second" tone={secondFactor ? 'good' : 'neutral'}>
              {secondFactor ? 'Asked for' : 'None'}
            </Badge>,
          ],
        ]}
      />
      <Section title="Sessions">
        <Sessions />
      </Section>
      {doing === 'password' && <ChangePassword isFirst={!hasPassword} onClose={close} />}
      {doing === 'add' && <AddSecondFactor hasPassword={hasPassword} onClose={close} />}
      {doing === 'remove' && <RemoveSecondFactor hasPassword={hasPassword} onClose={close} />}
    </Page>
  );
}
