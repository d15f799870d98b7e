import { useQuery } from '@tanstack/react-query';
import { Terminal } from 'lucide-react';
import type { Operation, OperationExchange } from '@svc/client';
import type { ReactNode } from 'react';
import { answer, api } from '../../data/api.ts';
import { curlOf } from '../../data/curl.ts';
import { useList } from '../../data/list.ts';
import { useRecent } from '../../data/recent.ts';
import { Badge, type Tone } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Code } from '../../ui/code.tsx';
import { Empty } from '../../ui/empty.tsx';
import { More } from '../../ui/more.tsx';
import { Loading } from '../../ui/page.tsx';
import { Problem } from '../../ui/problem.tsx';
import { duration, Time } from '../../ui/time.tsx';
import { toast } from '../../ui/toast.tsx';
import { installationQuery } from '../installations/queries.ts';
import { catalogueQuery } from '../providers/queries.ts';
import { addressOf, isWhole, type Address } from './address.ts';

/** Exchanges are written in batches, after the operation that they belong to, and no change is told of them. */
const mostBehindMs = 5000;

/** What was sent to the provider for an operation, and what came back, one attempt after the other. */
export function Exchanges({ project, operation }: { project: string; operation: Operation }): ReactNode {
  const operationId = operation.id;
  const address = useAddress(project, operation.installationId);
  const isRecent = useRecent(operation.updateTime, mostBehindMs);
  const list = useList(
    [project, 'operations', operationId, 'exchanges'],
    (page) =>
      answer(
        api.GET('/v1/projects/{projectIdOrName}/operations/{operationId}/exchanges', {
          params: { path: { projectIdOrName: project, operationId }, query: page },
        }),
      ),
    isRecent ? { againMs: 1000 } : {},
  );
  if (list.isLoading) return <Loading />;
  if (list.error && list.items.length === 0) return <Problem error={list.error} onRetry={list.reload} />;
  if (list.items.length === 0)
    return (
      <Empty title="No requests">
        Requests to the provider appear here with their answers a moment after they were sent, for as long as
        the project keeps them.
      </Empty>
    );
  return (
    <ol className="timeline">
      {list.items.map((exchange) => (
        <li key={exchange.id}>
          <Exchange exchange={exchange} address={address} />
        </li>
      ))}
      <More {...list} />
    </ol>
  );
}

/** Where the requests of an installation go. */
function useAddress(project: string, installationId: string): Address {
  const { data: installation } = useQuery(installationQuery(project, installationId));
  const { data: catalogue = [] } = useQuery(catalogueQuery);
  const { connection } = installation ?? {};
  return addressOf(
    connection,
    catalogue.find(({ name }) => name === connection?.provider),
  );
}

/** What a status says of a request, and its colour. By 207 a provider says that a part of a batch failed. */
function saidBy(status: number | undefined): { word: string; tone: Tone } {
  if (status === undefined) return { word: 'No answer', tone: 'bad' };
  if (status === 207) return { word: '207, partly done', tone: 'warning' };
  return { word: String(status), tone: status < 400 ? 'good' : 'bad' };
}

function Exchange({ exchange, address }: { exchange: OperationExchange; address: Address }): ReactNode {
  const { attempt, time, request, answer: came, fault, totalMs } = exchange;
  const { word, tone } = saidBy(came?.status);
  return (
    <details className="exchange" open={tone !== 'good'}>
      <summary>
        <Badge tone={tone}>{word}</Badge>
        <code className="exchange-path">
          {request.method} {request.path}
        </code>
        <span className="muted">
          Attempt {attempt} · <Time at={time} /> · {duration(totalMs)}
        </span>
      </summary>
      <div className="exchange-copy">
        <CopyAsCurl request={request} address={address} />
      </div>
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

/** The request as a command, with the credential in `$TOKEN`. */
function CopyAsCurl(props: { request: OperationExchange['request']; address: Address }): ReactNode {
  const { request, address } = props;
  const copy = async (): Promise<void> => {
    const { method, path, headers = {}, body } = request;
    await navigator.clipboard.writeText(
      curlOf({ method, path, headers, body, base: address.base }, address.credential),
    );
    toast('Copied; put the credential into $TOKEN');
  };
  return (
    <Button
      look="quiet"
      icon={<Terminal size={14} aria-hidden />}
      disabledFor={isWhole(request) ? undefined : 'Not all of the body is kept'}
      onClick={() => void copy()}
    >
      Copy as curl
    </Button>
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
