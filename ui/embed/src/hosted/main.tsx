import type { SvcError } from '@svc/client';
import { StrictMode, useEffect, useState, type ReactNode } from 'react';
import { createRoot } from 'react-dom/client';
import { InstallIntegration, SvcProvider } from '../index.ts';
import { keepUntilGone } from '../components/kept-draft.ts';
import { Button, Failure, Loading } from '../components/ui.tsx';
import { Root, spokenOf, useText } from '../text/index.tsx';
import { openLink, type OpenedLink } from './link.ts';
import './hosted.css';
import '../styles.css';

const asked = new URLSearchParams(location.search).get('language') ?? undefined;
const language = spokenOf(asked ?? '', navigator.language);
document.documentElement.lang = language;
const returnUrl =
  location.origin + location.pathname + (asked === undefined ? '' : `?language=${encodeURIComponent(asked)}`);

function Page(): ReactNode {
  const [opened, setOpened] = useState<OpenedLink>();
  const [error, setError] = useState<SvcError>();
  const open = (): void => {
    setError(undefined);
    openLink().then(setOpened, setError);
  };
  useEffect(open, []);
  // What was entered stays, whatever becomes of the link.
  return (
    <>
      {opened && !error ? null : (
        <Root language={language}>
          <section className="svc-card">
            {error ? <Refused error={error} isOpen={opened !== undefined} onRetry={open} /> : <Loading />}
          </section>
        </Root>
      )}
      {opened ? <Opened opened={opened} onOver={setError} /> : null}
    </>
  );
}

/** A provider cannot be shown in a frame, nor does its cookie reach one: there it gets a window. */
const mode = window.self === window.top ? 'redirect' : 'popup';

const isOver = (error: SvcError): boolean => 'code' in error && error.code === 'connect-link-over';

interface RefusedProps {
  error: SvcError;
  /** The page of the link stands below. */
  isOpen: boolean;
  onRetry: () => void;
}

function Refused({ error, isOpen, onRetry }: RefusedProps): ReactNode {
  const t = useText();
  if (!isOver(error)) return <Failure error={error} onRetry={onRetry} />;
  const Heading = isOpen ? 'h2' : 'h1';
  return (
    <div className="svc-stack" role={isOpen ? 'alert' : undefined}>
      <Heading>{t('linkOver')}</Heading>
      <p className="svc-intro">{t('linkOverText')}</p>
      {isOpen ? <p className="svc-intro">{t('linkOverKept')}</p> : null}
      <div>
        <Button onClick={onRetry}>{t('tryAgain')}</Button>
      </div>
    </div>
  );
}

function Opened({ opened, onOver }: { opened: OpenedLink; onOver: (error: SvcError) => void }): ReactNode {
  const { project, token, expiresAt } = opened;
  const [first] = useState({ left: true });
  const [isLogoBroken, setLogoBroken] = useState(false);
  const { logoUrl, accentColor, accentColorDark = accentColor } = project.branding;
  useEffect(() => {
    document.title = project.appName;
    const style = document.documentElement.style;
    for (const [name, colour] of [
      ['--brand', accentColor],
      ['--brand-dark', accentColorDark],
    ] as const) {
      if (colour === undefined) continue;
      style.setProperty(name, colour);
      style.setProperty(`${name}-text`, readableOn(colour));
    }
    document.documentElement.toggleAttribute('data-branded', accentColor !== undefined);
  }, [project, accentColor, accentColorDark]);
  const getToken = async (): Promise<{ token: string; expiresAt: string }> => {
    if (!first.left)
      return opened.renew().catch((error: SvcError) => {
        if (isOver(error)) onOver(error);
        throw error;
      });
    first.left = false;
    return { token, expiresAt };
  };
  return (
    <>
      <header className="hosted-head">
        <h1>
          {logoUrl && !isLogoBroken ? (
            <img src={logoUrl} alt={project.appName} onError={() => setLogoBroken(true)} />
          ) : (
            project.appName
          )}
        </h1>
      </header>
      <SvcProvider
        baseUrl={location.origin}
        project={project.id}
        getToken={getToken}
        integration={opened.integration}
        groupRef={opened.groupRef}
        consumerRef={opened.consumerRef}
        {...(opened.groupName === undefined ? {} : { groupName: opened.groupName })}
        {...(opened.consumerName === undefined ? {} : { consumerName: opened.consumerName })}
      >
        <InstallIntegration
          mode={mode}
          returnUrl={returnUrl}
          backUrl={opened.returnUrl}
          appearance={{ language, appName: project.appName }}
        />
      </SvcProvider>
    </>
  );
}

/** Black or white, whichever is easier to read there (WCAG 2.2, relative luminance). */
function readableOn(colour: string): string {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return part <= 0.040_45 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.179 ? '#10131a' : '#fff';
}

// Another link that is opened in this tab changes only what stands behind the #. If it is for the same, what was entered is there again.
addEventListener('hashchange', () => {
  keepUntilGone();
  location.reload();
});

const root = document.getElementById('root');
if (root)
  createRoot(root).render(
    <StrictMode>
      <main className="hosted">
        <Page />
      </main>
    </StrictMode>,
  );
