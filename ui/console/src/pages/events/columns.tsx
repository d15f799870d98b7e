import type { Event } from '@svc/client';
import { Badge } from '../../ui/badge.tsx';
import type { Column } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { eventWords } from './words.ts';

export const eventColumns: readonly [what: Column<Event>, name: Column<Event>, when: Column<Event>] = [
  {
    title: 'What happened',
    width: '45%',
    cell: ({ type }) => {
      const [words, tone] = eventWords[type];
      return <Badge tone={tone}>{words}</Badge>;
    },
  },
  { title: 'Event', width: '35%', cell: ({ type }) => <code>{type}</code> },
  { title: 'When', width: '12.5rem', cell: ({ createTime }) => <Time at={createTime} /> },
];
