import type { OperationExchange } from '@svc/client';
import type { ReactNode } from 'react';
import { answer, api } from '../../data/api.ts';
import { useList } from '../../data/list.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Code } from '../../ui/code.tsx';
import { Empty } from '../../ui/empty.tsx';
import { Loading } from '../../ui/page.tsx';
import { Problem } from '../../ui/problem.tsx';
import { duration, Time } from '../../ui/time.tsx';

/** What was sent to the provider for an operation, and what came back, one attempt after the other. */
export function Exchanges({ project, operationId }: { project: string; operationId: string }): ReactNode {
  const list = useList([project, 'operations', operationId, 'exchanges'], (page) =>
    answer(
      api.GET('/v1/projects/{projectIdOrName}/operations/{operationId}/exchanges', {
        params: { path: { projectIdOrName: project, operationId }, query: page },
      }),
    ),
  );
  if (list.isLoading) return <Loading />;
  if (list.error) return <Problem error={list.error} onRetry={list.reload} />;
  if (list.items.length === 0)
    return (
      <Empty title="Nothing was sent">
        Requests to the provider appear here with their answers, for as long as the project keeps them.
      </Empty>
    );
  return (
    <ol className="timeline">
      {list.items.map((exchange) => (
        <li key={exchange.id}>
          <Exchange exchange={exchange} />
        </li>
      ))}
      {list.hasMore && (
        <li>
          <Button isBusy={list.isLoadingMore} onClick={list.loadMore}>
            Load more
          </Button>
        </li>
      )}
    </ol>
  );
}

function Exchange({ exchange }: { exchange: OperationExchange }): ReactNode {
  const { attempt, time, request, answer: came, fault, totalMs } = exchange;
  const isGood = came !== undefined && came.status < 400;
  return (
    <details className="exchange" open={!isGood}>
      <summary>
        <Badge tone={isGood ? 'good' : 'bad'}>{came?.status ?? 'No answer'}</Badge>
        <code className="exchange-path">
          {request.method} {request.path}
        </code>
        <span className="muted">
          Attempt {attempt} · <Time at={time} /> · {duration(totalMs)}
        </span>
      </summary>
      <div className="exchange-sides">
        <Side title="Request" headers={request.headers} body={request.body} bytes={request.bytes} />
        {came ? (
          <Side title={`Answer ${came.status}`} headers={came.headers} body={came.body} bytes={came.bytes} />
        ) : (
          <p className="muted">{fault ?? 'No answer came.'}</p>
        )}
      </div>
    </details>
  );
}

type Headers = OperationExchange['request']['headers'];

function Side(props: {
  title: string;
  headers: Headers;
  body: string | undefined;
  bytes: number;
}): ReactNode {
  const { title, headers = {}, body, bytes } = props;
  const lines = Object.entries(headers).flatMap(([name, value]) => [value].flat().map((one) => [name, one]));
  return (
    <section>
      <h3>{title}</h3>
      {lines.length > 0 && (
        <dl className="headers">
          {lines.map(([name, value], index) => (
            <div key={`${name} ${index}`}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
      )}
      {body ? (
        <Code text={body} label={`Body of the ${title.toLowerCase()}`} />
      ) : (
        <p className="muted">{bytes === 0 ? 'No body.' : `A body of ${bytes} bytes, which is not kept.`}</p>
      )}
    </section>
  );
}
