import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { CircleCheck } from 'lucide-react';
import type { Attention, Overview } from '@svc/client';
import { lazy, Suspense, useMemo, type ReactNode } from 'react';
import { answer, api } from '../../data/api.ts';
import { useFilters } from '../../data/filters.ts';
import { loaded } from '../../data/loaded.ts';
import { useProject } from '../../data/project.ts';
import { Id } from '../../ui/copy.tsx';
import { Loading, Page, Section } from '../../ui/page.tsx';
import { Problem } from '../../ui/problem.tsx';
import { Select } from '../../ui/select.tsx';
import { duration, Time } from '../../ui/time.tsx';
import type { Line } from '../../ui/chart.tsx';
import { categories } from '../operations/queries.ts';
import { Budgets } from './budgets.tsx';

const Chart = lazy(async () => ({ default: (await loaded(() => import('../../ui/chart.tsx'))).Chart }));

const ranges = {
  hour: 'The last hour',
  day: 'The last day',
  week: 'The last week',
  month: 'The last 30 days',
} as const;
type Range = keyof typeof ranges;

/** What needs somebody, and where the list of it is. */
const kinds: Record<Attention['kind'], { title: string; list: string }> = {
  unknownOutcomes: { title: 'Unknown outcomes', list: 'operations' },
  badConnections: { title: 'Connections that do not work', list: 'connections' },
  unhealthyInstallations: { title: 'Unhealthy installations', list: 'installations' },
  deadLetters: { title: 'Deliveries given up', list: 'deliveries' },
  disabledDestinations: { title: 'Disabled destinations', list: 'destinations' },
  failingDestinations: { title: 'Destinations that refuse what is sent', list: 'destinations' },
  failingReads: { title: 'Reads that fail', list: 'reads' },
  pausedReads: { title: 'Paused reads', list: 'reads' },
};

const againMs = 5000;

/** What needs attention first, then how the work goes. */
export function OverviewPage(): ReactNode {
  const project = useProject();
  const { filters, setFilters } = useFilters();
  const range = (filters['range'] ?? 'day') as Range;
  const { data, error, refetch } = useQuery({
    queryKey: [project, 'overview', range],
    queryFn: () =>
      answer(
        api.GET('/v1/projects/{projectIdOrName}/overview', {
          params: { path: { projectIdOrName: project }, query: { range } },
        }),
      ),
    placeholderData: keepPreviousData,
    // What ended is counted after the change that tells of it, and what waits grows older without one.
    refetchInterval: againMs,
  });
  return (
    <Page
      title="Overview"
      actions={
        <Select
          isFilter
          label="Time"
          value={range}
          options={Object.entries(ranges).map(([value, label]) => ({ value, label }))}
          onChange={(value) => setFilters({ range: value === 'day' ? '' : value })}
        />
      }
    >
      {error && <Problem error={error} onRetry={() => void refetch()} />}
      {data ? <Told overview={data} project={project} /> : !error && <Loading lines={8} />}
    </Page>
  );
}

function Told({ overview, project }: { overview: Overview; project: string }): ReactNode {
  const { activity } = overview;
  return (
    <>
      <Needs overview={overview} project={project} />
      <div className="charts">
        <Ended
          title="Writes"
          of={activity.writes}
          times={activity.times}
          partly={<PartlyDone activity={activity} project={project} />}
        />
        <Took title="How long writes took" of={activity.writes} times={activity.times} />
        <Ended title="Reads" of={activity.reads} times={activity.times} />
        <Ended title="Deliveries" of={activity.deliveries} times={activity.times} />
      </div>
      <Budgets project={project} />
      <Failures activity={activity} project={project} />
    </>
  );
}

function Needs({ overview, project }: { overview: Overview; project: string }): ReactNode {
  const { activity, attention, oldestQueuedWrite, closedBudgets } = overview;
  const isQuiet = attention.length === 0 && closedBudgets.length === 0;
  const failed = [activity.writes, activity.reads, activity.deliveries].some(
    (of) => sum(of.failed) + sum(of.partlyDone) > 0,
  );
  return (
    <Section title="Needs attention">
      {isQuiet && !failed && (
        <p className="well card">
          <CircleCheck size={18} aria-hidden /> All is well.
        </p>
      )}
      {isQuiet && failed && <p className="card">Nothing waits for somebody. What failed is counted below.</p>}
      <ul className="cards">
        {attention
          .filter(({ kind }) => kind in kinds)
          .map(({ kind, count, filter }) => (
            <li key={kind} className="card card-link needs">
              <span className="needs-count">{count >= 1000 ? '1,000+' : count}</span>
              <Link
                to={`/projects/${encodeURIComponent(project)}/${kinds[kind].list}` as never}
                search={filter as never}
                className="row-link"
              >
                {kinds[kind].title}
              </Link>
            </li>
          ))}
        {closedBudgets.map(({ connectionId, groupRef, provider, closedUntil }) => (
          <li key={connectionId} className="card card-link">
            <Link
              to={`/projects/${encodeURIComponent(project)}/connections/${connectionId}` as never}
              className="row-link strong"
            >
              Rate limit of {provider} reached
            </Link>
            <span className="muted">
              {groupRef}, until <Time at={closedUntil} />
            </span>
          </li>
        ))}
      </ul>
      {oldestQueuedWrite && (
        <p className="needs-queue muted">
          {oldestQueuedWrite.count.toLocaleString()}
          {oldestQueuedWrite.countIsComplete ? '' : '+'}{' '}
          {oldestQueuedWrite.count === 1 ? 'write waits' : 'writes wait'}. The oldest was accepted{' '}
          {duration(oldestQueuedWrite.seconds * 1000)} ago:{' '}
          <Id value={oldestQueuedWrite.operationId} isShort />
        </p>
      )}
    </Section>
  );
}

type Activity = Overview['activity'];
type Series = Activity['writes'];
interface Drawn {
  title: string;
  of: Series;
  times: number[];
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

/** How it ended. `partly` leads to what was done in part, and is nothing where nothing was. */
function Ended({ title, of, times, partly }: Drawn & { partly?: ReactNode }): ReactNode {
  const [done, partlyDone, failed] = [
    sum(of.succeeded) - sum(of.partlyDone),
    sum(of.partlyDone),
    sum(of.failed),
  ];
  const lines = useMemo(() => linesOf(of), [of]);
  return (
    <section className="card">
      <h3>{title}</h3>
      <p className="muted small">
        {done.toLocaleString()} done, {partly}
        {failed.toLocaleString()} failed
      </p>
      <Suspense fallback={<Loading lines={3} />}>
        <Chart
          label={`${title}: ${done} done, ${partlyDone > 0 ? `${partlyDone} partly done, ` : ''}${failed} failed`}
          times={times}
          lines={lines}
        />
      </Suspense>
    </section>
  );
}

function linesOf({ succeeded, partlyDone, failed }: Series): Line[] {
  const done = succeeded.map((count, at) => count - (partlyDone[at] ?? 0));
  return [
    { label: 'Done', colour: '--svc-good', values: done },
    ...(sum(partlyDone) > 0 ? [{ label: 'Partly done', colour: '--svc-warning', values: partlyDone }] : []),
    { label: 'Failed', colour: '--svc-bad', values: failed },
  ];
}

/** Writes of which some records were not done, counted with the way to them. */
function PartlyDone({ activity, project }: { activity: Activity; project: string }): ReactNode {
  const count = sum(activity.writes.partlyDone);
  if (count === 0) return null;
  return (
    <>
      <Link
        to="/projects/$project/operations"
        params={{ project }}
        search={{ partlyDone: 'true', actionType: 'write', from: beginOf(activity) }}
      >
        {count.toLocaleString()} partly done
      </Link>
      ,{' '}
    </>
  );
}

function Took({ title, of, times }: Drawn): ReactNode {
  const lines = useMemo(
    () => [
      { label: 'Half of them within', colour: '--svc-accent', values: of.p50Ms },
      { label: '95 % within', colour: '--svc-warning', values: of.p95Ms },
    ],
    [of],
  );
  return (
    <section className="card">
      <h3>{title}</h3>
      <p className="muted small">From acceptance to end</p>
      <Suspense fallback={<Loading lines={3} />}>
        <Chart label={title} times={times} lines={lines} unit={duration} />
      </Suspense>
    </section>
  );
}

/** When the time that is shown begins. */
const beginOf = ({ times }: Activity): string => new Date((times[0] ?? 0) * 1000).toISOString();

function Failures({ activity, project }: { activity: Activity; project: string }): ReactNode {
  // What was counted: of the time that is shown, and of what failed as a whole.
  const counted = { status: 'failure', from: beginOf(activity) };
  const rows = Object.entries(activity.failures).sort(([, one], [, other]) => other - one);
  if (rows.length === 0) return null;
  return (
    <Section title="What failed, by category">
      <div className="table-frame">
        <table className="table table-narrow" aria-label="Failures by category">
          <tbody>
            {rows.map(([category, count]) => (
              <tr key={category}>
                <td>
                  <Link
                    to="/projects/$project/operations"
                    params={{ project }}
                    search={{ ...counted, errorCategory: category }}
                    className="row-link"
                  >
                    {categories[category as keyof typeof categories] ?? category}
                  </Link>
                </td>
                <td className="end">{count.toLocaleString()}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Section>
  );
}
