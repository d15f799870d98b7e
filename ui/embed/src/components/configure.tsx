import { useEffect, useRef, useState, type ReactNode } from 'react';
import type { HydratedRevision, Installation } from '@svc/client';
import { readConfigOf } from '../state/draft.ts';
import type { OfferedMappings } from '../state/offered.ts';
import { issuesNowhere } from '../state/nowhere.ts';
import type { FormIssue } from '../state/save.ts';
import { isOn, nameOf, readsHistory, stepsOf, stepWith, type Step } from '../state/wizard.ts';
import { useText, type Translate } from '../text/index.tsx';
import { Account } from './account.tsx';
import { returnUrlOf } from './connect-provider.tsx';
import type { InstalledProps } from './props.ts';
import { ObjectsPanel, ReviewPanel } from './objects-panel.tsx';
import { Overview, type OverviewProps } from './overview.tsx';
import { ReadPanel } from './read-panel.tsx';
import { BusyButton, Button, Failure, isConnectionOver, issueText, Notice, useSlow } from './ui.tsx';
import { SomeFailed } from './unloaded.tsx';
import { useDraft, type DraftState } from './use-draft.ts';
import { WritePanel } from './write-panel.tsx';

interface ConfigureProps extends InstalledProps {
  revision: HydratedRevision;
  offered: OfferedMappings;
  /** Asks for the fields again, where some could not be loaded. */
  again: ReactNode;
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
  useEffect(() => props.onEntered(state.isChanged), [state.isChanged]);
  const [opened, setOpened] = useState(0);
  // The page that opens is read out, and begins where the eye is: at once, so that nothing typed into it is left.
  useEffect(() => {
    if (opened > 0) heading.current?.focus();
  }, [opened]);
  const go = (next: Step | undefined): void => {
    setStep(next);
    setOpened((times) => times + 1);
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
          {...{ state, revision, offered, t, save }}
          onRetry={() => void state.retry().then(ended)}
          canFilter={provider.support.search.operators.equals}
          onMine={() => void state.decide('mine').then(ended)}
          onReconnect={isInstalled ? () => go('overview') : undefined}
        />
        {props.again ? (
          <SomeFailed {...{ revision, isInstalled }} draft={state.draft} retry={props.again} />
        ) : null}
        {!isInstalled && (step === steps[0] || step === 'review') ? <Account {...props} /> : null}
        <Page {...{ ...props, step, state }} onChange={(change) => void state.apply(change).then(ended)} />
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
  return nameOf(revision, step.slice('read/'.length));
}

function titleOf(step: Step, revision: HydratedRevision, provider: string, t: Translate): string {
  if (step === 'objects') return t('objectsTitle');
  if (step === 'write') return t('writeTitle', { provider });
  if (step === 'overview' || step === 'review') return stepName(step, revision, t);
  return t('readTitle', { object: stepName(step, revision, t) });
}

interface PageProps extends ConfigureProps, Pick<OverviewProps, 'onChange'> {
  step: Step;
  state: DraftState;
}

function Page({ step, state, ...props }: PageProps): ReactNode {
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
        returned={props.returned}
        onRenewed={props.onRenewed}
        onUninstalled={(id) => props.onUninstallSuccess?.(id)}
        onChange={props.onChange}
      />
    );
  if (step === 'objects')
    return (
      <ObjectsPanel
        {...{ revision, offered, draft, change }}
        provider={provider.displayName}
        saved={installation?.config.content ?? { provider: draft.provider }}
      />
    );
  if (step === 'write') return <WritePanel {...{ revision, offered, draft, edit, issuesAt }} />;
  if (step === 'review')
    return (
      <>
        <p className="svc-intro">{t('reviewIntro')}</p>
        <ReviewPanel
          {...{ revision, draft, offered, connection }}
          saved={installation?.config.content}
          examples={props.exampleRecords}
          provider={provider.displayName}
        />
      </>
    );
  const object = revision.content.read?.objects.find((one) => `read/${one.objectName}` === step);
  const canFilter = provider.support.search.operators.equals;
  const installed = installation?.config.content;
  const isNew = !installed || !object || readConfigOf(installed, object.objectName) === undefined;
  return object ? (
    <ReadPanel key={step} {...{ object, offered, canFilter, isNew, draft, edit, change, issuesAt }} />
  ) : null;
}

function namesOf(objects: readonly string[], revision: HydratedRevision, t: Translate): string {
  const names = objects.map((at) =>
    at === 'proxy' ? t('proxyCalls') : nameOf(revision, at.split('/')[1] ?? ''),
  );
  return [...new Set(names)].join(', ');
}

interface ToldProps {
  offered: OfferedMappings;
  canFilter: boolean;
  state: DraftState;
  revision: HydratedRevision;
  t: Translate;
  save: () => Promise<void>;
  onRetry: () => void;
  onMine: () => void;
  /** Leads to where the account is connected again. */
  onReconnect: (() => void) | undefined;
}

/** What the last attempt to save came to. */
function Told({ state, revision, t, save, onRetry, onMine, onReconnect, ...props }: ToldProps): ReactNode {
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
        {t(meeting.isNew ? 'installedElsewhere' : 'conflict', {
          objects: namesOf(meeting.objects, revision, t),
        })}
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
        {t(state.isChanged ? 'connectionOver' : 'connectionDead')}
      </Notice>
    );
  if (error) return <Failure error={error} onRetry={onRetry} />;
  if (issues.length > 0)
    return (
      <Notice tone="bad">
        {t('fixIssues')}
        <Nowhere
          issues={issuesNowhere(issues, { ...props, revision, draft: state.draft })}
          revision={revision}
        />
      </Notice>
    );
  if (meeting.kind === 'merged') return <Notice tone="info">{t('merged')}</Notice>;
  return isSaved ? <Notice tone="good">{t('saved')}</Notice> : null;
}

/** What is wrong where the form has no field for it. */
function Nowhere({
  issues,
  revision,
}: {
  issues: readonly FormIssue[];
  revision: HydratedRevision;
}): ReactNode {
  const t = useText();
  return issues.map((issue, index) => (
    <p key={index}>
      <bdi>{namesOf([issue.at], revision, t)}</bdi>: {issueText(issue, t)}
    </p>
  ));
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
  revision,
  backUrl,
  onManage,
}: ConfigureProps & { installation: Installation; onManage: () => void }): ReactNode {
  const t = useText();
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);
  return (
    <section className="svc-card svc-done">
      <span className="svc-done-mark" aria-hidden="true" />
      <h2 ref={heading} tabIndex={-1}>
        {t('doneTitle')}
      </h2>
      <p>{t('doneText', { provider: provider.displayName })}</p>
      {readsHistory(installation.config.content, revision) ? (
        <p className="svc-muted">{t('doneReads')}</p>
      ) : null}
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
