import { StrictMode, useEffect, useState, type ReactNode } from 'react';
import { createRoot } from 'react-dom/client';
import { ConnectionHealth, InstallIntegration, SvcProvider } from '@svc/embed';
import '@svc/embed/styles.css';
import './page.css';

interface Me {
  name: string;
  company: string;
  groupRef: string;
  consumerRef: string;
  svcUrl: string;
  project: string;
}
interface Subscriber {
  id: string;
  email: string;
  name: string;
  lastMail: string;
}

async function call<Answer>(method: 'GET' | 'POST', path: string, body?: object): Promise<Answer> {
  const answer = await fetch(path, { method, ...(body ? { body: JSON.stringify(body) } : {}) });
  const said = (answer.status === 204 ? undefined : await answer.json().catch(() => undefined)) as unknown;
  if (!answer.ok) throw new Error((said as { detail?: string } | undefined)?.detail ?? `${answer.status}`);
  return said as Answer;
}

const appearance = { appName: 'Mailmonkey', language: 'en' };

function Mailmonkey(): ReactNode {
  const [me, setMe] = useState<Me | null>();
  const look = (): void => {
    call<Me>('GET', '/api/me').then(setMe, () => setMe(null));
  };
  useEffect(look, []);
  if (me === undefined) return null;
  return (
    <>
      <header>
        <strong>Mailmonkey</strong>
        {me ? (
          <span>
            {me.name}, {me.company}
          </span>
        ) : null}
      </header>
      <main>{me ? <Account me={me} /> : <SignIn onDone={look} />}</main>
    </>
  );
}

function SignIn({ onDone }: { onDone: () => void }): ReactNode {
  const signIn = (name: string): void => void call('POST', '/api/sign-in', { name }).then(onDone);
  return (
    <section>
      <h1>Mail your customers</h1>
      <button type="button" onClick={() => signIn('ada')}>
        Sign in as Ada of Acme
      </button>
      <button type="button" onClick={() => signIn('grace')}>
        Sign in as Grace of Globex
      </button>
    </section>
  );
}

/** What belongs to a customer; all of it stands inside the provider. */
function Account({ me }: { me: Me }): ReactNode {
  const [tab, setTab] = useState<'subscribers' | 'settings'>('subscribers');
  return (
    <SvcProvider
      baseUrl={me.svcUrl}
      project={me.project}
      integration="hubspot"
      groupRef={me.groupRef}
      groupName={me.company}
      consumerRef={me.consumerRef}
      consumerName={me.name}
      getToken={() => call<string>('POST', '/api/svc-token')}
    >
      <nav>
        <button type="button" aria-current={tab === 'subscribers'} onClick={() => setTab('subscribers')}>
          Subscribers
        </button>
        <button type="button" aria-current={tab === 'settings'} onClick={() => setTab('settings')}>
          HubSpot
        </button>
      </nav>
      {tab === 'settings' ? (
        <InstallIntegration appearance={appearance} />
      ) : (
        <>
          <ConnectionHealth quiet appearance={appearance} />
          <List />
        </>
      )}
    </SvcProvider>
  );
}

function List(): ReactNode {
  const [all, setAll] = useState<Subscriber[]>([]);
  const [error, setError] = useState<string>();
  const look = (): void => {
    call<Subscriber[]>('GET', '/api/subscribers').then(setAll, (cause: Error) => setError(cause.message));
  };
  useEffect(() => {
    look();
    const looking = setInterval(look, 1_000);
    return () => clearInterval(looking);
  }, []);
  const mail = (id: string): void => {
    call('POST', '/api/mails', { id, subject: 'Welcome' }).then(look, (cause: Error) =>
      setError(cause.message),
    );
  };
  if (all.length === 0) return <p>Nobody yet. Connect your HubSpot: its contacts come here.</p>;
  return (
    <>
      {error ? <p role="alert">{error}</p> : null}
      <table>
        <thead>
          <tr>
            <th>Name</th>
            <th>Address</th>
            <th>Last mail</th>
            <th />
          </tr>
        </thead>
        <tbody>
          {all.slice(0, 50).map(({ id, name, email, lastMail }) => (
            <tr key={id}>
              <td>{name}</td>
              <td>{email}</td>
              <td>{lastMail}</td>
              <td>
                <button type="button" onClick={() => mail(id)}>
                  Welcome {email}
                </button>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}

const root = document.getElementById('root');
if (root)
  createRoot(root).render(
    <StrictMode>
      <Mailmonkey />
    </StrictMode>,
  );
