import { queryOptions, useQuery } from '@tanstack/react-query';
import { onlyPage, type Member, type MemberPage } from '@svc/client';
import type { ReactNode } from 'react';
import { answer, api } from '../../data/api.ts';
import { useProject } from '../../data/project.ts';
import { whoOf } from '../audit/words.ts';

/** The people of the project by name. It has few. */
const membersQuery = (project: string) =>
  queryOptions({
    queryKey: [project, 'members', 'names'],
    queryFn: async () =>
      onlyPage<MemberPage>(
        await answer(
          api.GET('/v1/projects/{projectIdOrName}/members', {
            params: { path: { projectIdOrName: project }, query: { pageSize: 1000 } },
          }),
        ),
      ).results,
  });

const isId = (text: string): boolean => /^[0-9a-f]{8}-[0-9a-f-]{27}$/.test(text);

/** Who did it, from what operations and configs keep of it (`person:…`, `apiKey:…`, `consumer:…`), as people say it. */
export function callerOf(by: string, members: readonly Member[]): string {
  const [kind = '', ...rest] = by.split(':');
  const id = rest.join(':');
  if (kind === 'consumer') return id;
  if (kind === 'jwt') return whoOf({ kind });
  if (kind === 'apiKey' || kind === 'api')
    return whoOf({ kind: 'apiKey', ...(isId(id) ? { keyId: id } : {}) });
  const member = members.find((one) => one.id === id);
  if (member) return member.name ?? member.email;
  return isId(id) ? 'Somebody who is no member any more' : id;
}

export function useCaller(by: string): string {
  const { data = [], isLoading } = useQuery(membersQuery(useProject()));
  return isLoading ? '…' : callerOf(by, data);
}

export const Who = ({ by }: { by: string }): ReactNode => useCaller(by);
