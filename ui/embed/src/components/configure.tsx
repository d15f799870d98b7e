import { useEffect, useRef, useState, type ReactNode } from 'react';
import type { HydratedRevision, Installation } from '@svc/client';
import type { OfferedMappings } from '../state/questions.ts';
import { isOn, objectsOf, stepsOf, stepWith, type Step } from '../state/wizard.ts';
import { useText, type Translate } from '../text/index.tsx';
import { returnUrlOf } from './connect-provider.tsx';
import type { InstalledProps } from './props.ts';
import { ObjectsPanel, ReviewPanel } from './objects-panel.tsx';
import { Overview } from './overview.tsx';
import { ReadPanel } from './read-panel.tsx';
import { BusyButton, Button, Failure, isConnectionOver, Notice, useSlow } from './ui.tsx';
import { useDraft, type DraftState } from './use-draft.ts';
import { WritePanel } from './write-panel.tsx';

interface ConfigureProps extends InstalledProps {
  revision: HydratedRevision;
  offered: OfferedMappings;
}

/** The steps of an installation that is made, and its pages once there is one. */
export function Configure(props: ConfigureProps): ReactNode {
  const { revision, offered, installation, provider, connection } = props;
  const t = useText();
  const state = useDraft(revision, installation, offered, connection);
  const isInstalled = installation !== undefined;
  const steps = stepsOf(state.draft, revision, isInstalled);
  const [asked, setStep] = useState<Step>();
  const step = asked && steps.includes(asked) ? asked : (steps[0] ?? 'review');
  const [isDone, setDone] = useState(false);
  const heading = useRef<HTMLHeadingElement>(null);
  const go = (next: Step | undefined): void => {
    setStep(next);
    // The page that opens is read out, and begins where the eye is.
    setTimeout(() => heading.current?.focus());
  };
  // What has to be mended is opened.
  useEffect(() => {
    const first = stepWith(state.issues, steps);
    if (first && !state.issues.some(({ at }) => isOn(step, at))) go(first);
  }, [state.issues]);
  const ended = (saved: Installation | undefined): void => {
    if (!saved) return;
    const isNew = installation?.id !== saved.id;
    const told = isNew ? props.onInstallSuccess : props.onUpdateSuccess;
    told?.(saved.id, saved.config);
    if (isNew) {
      setDone(true);
      setStep(undefined);
    }
  };
  const save = async (): Promise<void> => ended(await state.save());
  if (isDone && installation)
    return <Done {...props} installation={installation} onManage={() => setDone(false)} />;
  return (
    <div className="svc-card svc-frame">
      <Steps {...{ step, steps, state, revision, isInstalled, go }} />
      <section className="svc-page" aria-busy={state.isSaving}>
        <h2 ref={heading} tabIndex={-1}>
          <bdi>{titleOf(step, revision, provider.displayName, t)}</bdi>
        </h2>
        <Told
          {...{ state, t, save }}
          onMine={() => void state.decide('mine').then(ended)}
          onReconnect={isInstalled ? () => go('overview') : undefined}
        />
        <Page {...props} step={step} state={state} />
        <Footer {...{ step, steps, state, isInstalled, go, save }} />
      </section>
    </div>
  );
}

interface StepsProps extends Pick<FooterProps, 'step' | 'steps' | 'state' | 'isInstalled' | 'go'> {
  revision: HydratedRevision;
}

function Steps({ step, steps, state, revision, isInstalled, go }: StepsProps): ReactNode {
  const t = useText();
  const list = useRef<HTMLOListElement>(null);
  useEffect(() => {
    // On a narrow page the steps are a row that scrolls.
    list.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [step]);
  return (
    <nav aria-label={t('steps')} className="svc-nav">
      <ol ref={list}>
        {steps.map((one, index) => (
          <li key={one}>
            <button
              type="button"
              className="svc-nav-step"
              aria-current={one === step ? 'step' : undefined}
              data-passed={!isInstalled && index < steps.indexOf(step) ? true : undefined}
              data-issue={state.issues.some(({ at }) => isOn(one, at)) ? true : undefined}
              onClick={() => go(one)}
            >
              {isInstalled ? null : <span className="svc-nav-number">{index + 1}</span>}
              <span dir="auto">{stepName(one, revision, t)}</span>
            </button>
          </li>
        ))}
      </ol>
    </nav>
  );
}

function stepName(step: Step, revision: HydratedRevision, t: Translate): string {
  if (step === 'overview') return revision.content.displayName ?? revision.content.name;
  if (step === 'objects') return t('stepObjects');
  if (step === 'write') return t('stepWrite');
  if (step === 'review') return t('stepReview');
  const name = step.slice('read/'.length);
  return objectsOf(revision).find(({ objectName }) => objectName === name)?.displayName ?? name;
}

function titleOf(step: Step, revision: HydratedRevision, provider: string, t: Translate): string {
  if (step === 'objects') return t('objectsTitle');
  if (step === 'write') return t('writeTitle', { provider });
  if (step === 'overview' || step === 'review') return stepName(step, revision, t);
  return t('readTitle', { object: stepName(step, revision, t) });
}

function Page({ step, state, ...props }: ConfigureProps & { step: Step; state: DraftState }): ReactNode {
  const { revision, offered, provider, connection, installation } = props;
  const t = useText();
  const { draft, edit, change } = state;
  const issuesAt = (place: string) => state.issues.filter(({ at }) => at === place);
  if (step === 'overview' && installation)
    return (
      <Overview
        {...{ installation, revision, provider, connection, state, offered }}
        examples={props.exampleRecords}
        returnUrl={returnUrlOf(props)}
        onRenewed={props.onRenewed}
        onUninstalled={(id) => props.onUninstallSuccess?.(id)}
      />
    );
  if (step === 'objects')
    return <ObjectsPanel {...{ revision, offered, draft, change }} provider={provider.displayName} />;
  if (step === 'write') return <WritePanel {...{ revision, offered, draft, edit, issuesAt }} />;
  if (step === 'review')
    return (
      <>
        <p className="svc-intro">{t('reviewIntro')}</p>
        <ReviewPanel
          {...{ revision, draft, offered, connection }}
          examples={props.exampleRecords}
          provider={provider.displayName}
        />
      </>
    );
  const object = revision.content.read?.objects.find((one) => `read/${one.objectName}` === step);
  const canFilter = provider.support.search.operators.equals;
  return object ? <ReadPanel key={step} {...{ object, offered, canFilter, draft, edit, issuesAt }} /> : null;
}

const namesOf = (objects: readonly string[]): string =>
  [...new Set(objects.map((at) => at.split('/').slice(1).join('/')))].join(', ');

interface ToldProps {
  state: DraftState;
  t: Translate;
  save: () => Promise<void>;
  onMine: () => void;
  /** Leads to where the account is connected again. */
  onReconnect: (() => void) | undefined;
}

/** What the last attempt to save came to. */
function Told({ state, t, save, onMine, onReconnect }: ToldProps): ReactNode {
  const { meeting, error, issues, isSaved } = state;
  const isSlow = useSlow(state.isSaving);
  if (isSlow) return <Notice tone="info">{t('slow')}</Notice>;
  if (meeting.kind === 'conflict')
    return (
      <Notice
        tone="warning"
        actions={
          <>
            <Button onClick={onMine}>{t('keepMine')}</Button>
            <Button onClick={() => void state.decide('theirs')}>{t('takeTheirs')}</Button>
          </>
        }
      >
        {t(meeting.isNew ? 'installedElsewhere' : 'conflict', { objects: namesOf(meeting.objects) })}
      </Notice>
    );
  if (meeting.kind === 'uninstalled')
    return (
      <Notice
        tone="warning"
        actions={
          <>
            <Button onClick={() => void save()}>{t('install')}</Button>
            <Button onClick={state.discard}>{t('discard')}</Button>
          </>
        }
      >
        {t('uninstalledElsewhere')}
      </Notice>
    );
  if (error && isConnectionOver(error) && onReconnect)
    return (
      <Notice tone="bad" actions={<Button onClick={onReconnect}>{t('reconnect')}</Button>}>
        {t('connectionOver')}
      </Notice>
    );
  if (error) return <Failure error={error} onRetry={() => void save()} />;
  if (issues.length > 0) return <Notice tone="bad">{t('fixIssues')}</Notice>;
  if (meeting.kind === 'merged') return <Notice tone="info">{t('merged')}</Notice>;
  return isSaved ? <Notice tone="good">{t('saved')}</Notice> : null;
}

interface FooterProps {
  step: Step;
  steps: readonly Step[];
  state: DraftState;
  isInstalled: boolean;
  go: (step: Step | undefined) => void;
  save: () => Promise<void>;
}

function Footer({ step, steps, state, isInstalled, go, save }: FooterProps): ReactNode {
  const t = useText();
  const index = steps.indexOf(step);
  if (isInstalled)
    return state.isChanged ? (
      <footer className="svc-footer">
        <Button look="quiet" onClick={state.discard}>
          {t('discard')}
        </Button>
        <BusyButton
          look="primary"
          busy={state.isSaving}
          busyText={t('installing')}
          onClick={() => void save()}
        >
          {t('save')}
        </BusyButton>
      </footer>
    ) : null;
  return (
    <footer className="svc-footer">
      {index > 0 ? <Button onClick={() => go(steps[index - 1])}>{t('back')}</Button> : <span />}
      <span className="svc-muted svc-footer-count">
        {t('stepOf', { step: index + 1, steps: steps.length })}
      </span>
      {step === 'review' ? (
        <BusyButton
          look="primary"
          busy={state.isSaving}
          busyText={t('installing')}
          onClick={() => void save()}
        >
          {t('install')}
        </BusyButton>
      ) : (
        <Button look="primary" onClick={() => (state.check(step) ? go(steps[index + 1]) : undefined)}>
          {t('next')}
        </Button>
      )}
    </footer>
  );
}

function Done({
  provider,
  installation,
  backUrl,
  onManage,
}: ConfigureProps & { installation: Installation; onManage: () => void }): ReactNode {
  const t = useText();
  const reads = Object.values(installation.config.content.read?.objects ?? {}).some(
    ({ disabled }) => !disabled,
  );
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);
  return (
    <section className="svc-card svc-done">
      <span className="svc-done-mark" aria-hidden="true" />
      <h2 ref={heading} tabIndex={-1}>
        {t('doneTitle')}
      </h2>
      <p>{t('doneText', { provider: provider.displayName })}</p>
      {reads ? <p className="svc-muted">{t('doneReads')}</p> : null}
      <div className="svc-actions">
        <Button onClick={onManage}>{t('manage')}</Button>
        {backUrl === undefined ? null : (
          <a className="svc-button svc-button-primary" href={backUrl}>
            {t('backTo')}
          </a>
        )}
      </div>
    </section>
  );
}
