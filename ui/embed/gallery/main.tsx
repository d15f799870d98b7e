/** `npm run embed`: every state of every component, found by typing. The address says what is shown, and how. */
import { useEffect, useMemo, useState, type ReactNode } from 'react';
import { createRoot } from 'react-dom/client';
import { SvcProvider } from '../src/index.ts';
import '../src/styles.css';
import { answer } from './answers.ts';
import './gallery.css';
import type { State } from './state.ts';
import { states } from './states.ts';
import { walk } from './walk.ts';

const choices = {
  theme: ['auto', 'light', 'dark'],
  density: ['1', '0.75'],
  direction: ['ltr', 'rtl'],
  language: ['en', 'de'],
} as const;
type Look = { [Name in keyof typeof choices]: string };

const asked = new URLSearchParams(location.search);
const lookAtFirst = Object.fromEntries(
  Object.entries(choices).map(([name, values]) => [name, asked.get(name) ?? values[0]]),
) as Look;

function Gallery(): ReactNode {
  const [look, setLook] = useState(lookAtFirst);
  const [name, setName] = useState(asked.get('state') ?? states[0]?.name ?? '');
  const [text, setText] = useState('');
  const state = states.find((one) => one.name === name);
  const words = text.toLowerCase().split(/\s+/);
  const found = states.filter((one) => words.every((word) => one.name.toLowerCase().includes(word)));
  useEffect(() => {
    history.replaceState(null, '', `?${new URLSearchParams({ state: name, ...look }).toString()}`);
    document.documentElement.dir = look.direction;
    document.documentElement.dataset['theme'] = look.theme;
  }, [name, look]);
  const stage = state ? (
    <Stage key={JSON.stringify([name, look])} state={state} look={look} />
  ) : (
    <p>There is no state “{name}”.</p>
  );
  if (asked.has('bare')) return <main className="stage">{stage}</main>;
  return (
    <div className="gallery">
      <nav aria-label="States">
        <input
          type="search"
          aria-label="Search states"
          placeholder={`Search ${states.length} states`}
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
        <ul>
          {found.map((one) => (
            <li key={one.name}>
              <button type="button" aria-current={one.name === name} onClick={() => setName(one.name)}>
                {one.name}
              </button>
            </li>
          ))}
        </ul>
      </nav>
      <div>
        <header>
          {Object.entries(choices).map(([part, values]) => (
            <label key={part}>
              {part}
              <select
                value={look[part as keyof Look]}
                onChange={(event) => setLook({ ...look, [part]: event.target.value })}
              >
                {values.map((value) => (
                  <option key={value}>{value}</option>
                ))}
              </select>
            </label>
          ))}
        </header>
        <main className="stage">{stage}</main>
      </div>
    </div>
  );
}

/** One state, from its beginning. */
function Stage({ state, look }: { state: State; look: Look }): ReactNode {
  const [error, setError] = useState<Error>();
  const { component: Component, props } = useMemo(() => prepared(state), [state]);
  useEffect(() => {
    const show = async (): Promise<void> => {
      await state.walk?.(walk).catch(setError);
      document.documentElement.dataset['shown'] = state.name;
    };
    delete document.documentElement.dataset['shown'];
    void show();
  }, [state]);
  const { theme, direction, language } = look;
  return (
    <div style={{ '--svc-density': look.density } as object}>
      {error ? <p role="alert">{error.message}</p> : null}
      <SvcProvider
        baseUrl="https://svc.example.com"
        project="default"
        apiKey="none"
        integration="crm"
        groupRef="acme"
        consumerRef="ada"
      >
        <Component {...props} {...{ appearance: { theme, direction, language, appName: 'Mailmonkey' } }} />
      </SvcProvider>
    </div>
  );
}

/** What a state finds around it: svc, windows, and the address that a provider sent the browser back to. */
function prepared(state: State): Pick<State, 'component' | 'props'> {
  window.fetch = (given, init) => answer(new Request(given, init), state.answers);
  window.open = () => (state.window === 'blocked' ? null : windowOf(state));
  if (state.returned !== undefined) {
    // As the tab remembers it that left for the provider.
    const whose = JSON.stringify(['https://svc.example.com', 'default', 'crm', 'acme', 'ada']);
    sessionStorage.setItem(
      'svc-connect-left',
      JSON.stringify({ whose, provider: 'hubspot', mark: 'gallery' }),
    );
    history.replaceState(null, '', `${state.returned}&svcConnect=gallery`);
  }
  return state;
}

/** One that somebody closes is closed after it leads to the provider: before that a browser has blocked it. */
function windowOf(state: State): Window {
  const opened = {
    closed: false,
    close: () => undefined,
    location: {
      set href(_url: string) {
        setTimeout(() => {
          opened.closed = state.window === 'closed';
        });
      },
    },
  };
  return opened as unknown as Window;
}

const root = document.getElementById('root');
if (root) createRoot(root).render(<Gallery />);
