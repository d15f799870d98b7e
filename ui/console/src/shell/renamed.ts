import { useQuery, useQueryClient, type QueryClient } from '@tanstack/react-query';
import type { Membership } from '@svc/client';
import { useLocation, useNavigate } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { sessionQuery, useMembership } from '../data/session.ts';

/** What the person is in the project of the address. Where it gets another name while its page is open, the page goes on under that. */
export function useFollowed(project: string): Membership | undefined {
  const membership = useMembership(project);
  const [known, setKnown] = useState({ project, id: membership?.id });
  const { data } = useQuery(sessionQuery);
  const client = useQueryClient();
  const navigate = useNavigate();
  const { href } = useLocation();
  const renamed =
    membership || known.project !== project ? undefined : data?.projects.find(({ id }) => id === known.id);
  const id = membership?.id;
  useEffect(() => {
    if (id !== undefined) setKnown({ project, id });
  }, [project, id]);
  useEffect(() => {
    if (!renamed) return;
    carry(client, project, renamed.name);
    const address = href.replace(/^\/projects\/[^/?#]+/, `/projects/${encodeURIComponent(renamed.name)}`);
    void navigate({ href: address, replace: true, ignoreBlocker: true });
  }, [client, navigate, href, project, renamed]);
  return membership ?? renamed;
}

/** What was read under the old name stands under the new one: a form that is open shows it, and loses nothing. */
function carry(client: QueryClient, from: string, to: string): void {
  for (const [[, ...rest], data] of client.getQueriesData({ queryKey: [from] }))
    client.setQueryData([to, ...rest], data);
}
