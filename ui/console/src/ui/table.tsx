import { tableFeatures, useTable, type ColumnDef } from '@tanstack/react-table';
import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useMemo, useRef, useState, type KeyboardEvent, type ReactNode } from 'react';
import { Button } from './button.tsx';
import { Empty } from './empty.tsx';
import { Loading } from './page.tsx';
import { Problem } from './problem.tsx';

/** A column of a table: what stands above it, in it, and how wide it is (`fr` of what is left, or pixels). */
export interface Column<Row> {
  title: string;
  cell: (row: Row) => ReactNode;
  width: string;
  align?: 'end';
}

/** What a table shows of a list; `useList` answers it. */
interface Rows<Row> {
  items: readonly Row[];
  isLoading: boolean;
  isOld: boolean;
  error: Error | null;
  hasMore: boolean;
  isLoadingMore: boolean;
  loadMore: () => void;
  reload: () => void;
}

interface TableProps<Row> {
  label: string;
  list: Rows<Row>;
  columns: readonly Column<Row>[];
  rowKey: (row: Row) => string;
}

const rowHeight = 44;
const features = tableFeatures({});

/**
 * A list of any length: only the rows in sight are in the page, and more is loaded on the way down. The first link of a row is the link of
 * all of it; arrow keys go from row to row. `empty` is shown instead when there is nothing, to the last page.
 */
export function Table<Row>(props: TableProps<Row> & { empty: ReactNode }): ReactNode {
  const { list, empty } = props;
  if (list.isLoading) return <Loading lines={8} />;
  if (list.items.length > 0) return <FullTable {...props} />;
  if (list.error) return <Problem error={list.error} onRetry={list.reload} />;
  return list.hasMore ? <LookOn {...list} /> : empty;
}

/** What was looked through so far has none, and there is more: a page of the API may be empty and not the last. */
function LookOn({ isLoadingMore, loadMore }: Pick<Rows<never>, 'isLoadingMore' | 'loadMore'>): ReactNode {
  const [isStopped, setStopped] = useState(false);
  useEffect(() => {
    if (!isStopped && !isLoadingMore) loadMore();
  }, [isStopped, isLoadingMore, loadMore]);
  const action = isStopped ? (
    <Button isBusy={isLoadingMore} onClick={() => setStopped(false)}>
      Look on
    </Button>
  ) : (
    <Button onClick={() => setStopped(true)}>Stop</Button>
  );
  return (
    <div role="status">
      <Empty title="Nothing matches yet" action={action}>
        {isStopped ? 'The rest was not looked through.' : 'It looks on through the rest.'}
      </Empty>
    </div>
  );
}

function FullTable<Row>({ label, list, columns, rowKey }: TableProps<Row>): ReactNode {
  const { items, isOld, error, hasMore, isLoadingMore, loadMore, reload } = list;
  return (
    <div className="table-frame" data-old={isOld || undefined}>
      <table className="table" aria-label={label} aria-rowcount={hasMore ? -1 : items.length}>
        <colgroup>
          {columns.map(({ title, width }) => (
            <col key={title} style={{ width }} />
          ))}
        </colgroup>
        <thead>
          <tr>
            {columns.map(({ title, align }) => (
              <th key={title} scope="col" className={align}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <Body {...{ label, list, columns, rowKey }} />
      </table>
      {error && <Problem error={error} onRetry={reload} />}
      {hasMore && !error && (
        <p className="table-more">
          <Button look="quiet" isBusy={isLoadingMore} onClick={loadMore}>
            Load more
          </Button>
        </p>
      )}
    </div>
  );
}

/** The rows in sight; what is above and below them is one empty row each. */
function Body<Row>({ list, columns, rowKey }: TableProps<Row>): ReactNode {
  const defs = useMemo<ColumnDef<typeof features, object>[]>(
    () =>
      columns.map(({ cell }, index) => ({ id: String(index), cell: ({ row }) => cell(row.original as Row) })),
    [columns],
  );
  const data = list.items as readonly object[];
  const table = useTable({ features, columns: defs, data, getRowId: (row) => rowKey(row as Row) });
  const { rows } = table.getRowModel();
  const body = useRef<HTMLTableSectionElement>(null);
  const virtual = useWindowVirtualizer({
    count: rows.length,
    estimateSize: () => rowHeight,
    overscan: 12,
    scrollMargin: body.current?.offsetTop ?? 0,
  });
  const shown = virtual.getVirtualItems();
  const [first, last] = [shown[0], shown.at(-1)];
  const { hasMore, isLoadingMore, loadMore, error } = list;
  const isNearEnd = (last?.index ?? -1) >= rows.length - 20;
  useEffect(() => {
    if (hasMore && !isLoadingMore && !error && isNearEnd) loadMore();
  }, [hasMore, isLoadingMore, error, isNearEnd, loadMore]);
  const { scrollMargin } = virtual.options;
  const above = first ? first.start - scrollMargin : 0;
  const below = last ? virtual.getTotalSize() - last.end + scrollMargin : 0;
  return (
    <tbody ref={body} onKeyDown={goAlong}>
      {above > 0 && <tr aria-hidden style={{ height: above }} />}
      {shown.map(({ index }) => {
        const row = rows[index];
        return (
          row && (
            <tr key={row.id} aria-rowindex={index + 1}>
              {row.getAllCells().map((cell, at) => (
                <td key={cell.id} className={columns[at]?.align}>
                  <table.FlexRender cell={cell} />
                </td>
              ))}
            </tr>
          )
        );
      })}
      {below > 0 && <tr aria-hidden style={{ height: below }} />}
    </tbody>
  );
}

/** Up and down: the link of the row before or after. */
function goAlong(event: KeyboardEvent<HTMLElement>): void {
  const step = { ArrowDown: 'nextElementSibling', ArrowUp: 'previousElementSibling' } as const;
  const to = step[event.key as keyof typeof step];
  const row = to && (event.target as HTMLElement).closest('tr')?.[to];
  const link = row?.querySelector<HTMLElement>('a, button');
  if (!link) return;
  event.preventDefault();
  link.focus();
}
