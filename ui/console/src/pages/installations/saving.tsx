import { useMutation, useQueryClient } from '@tanstack/react-query';
import { SvcError, type Config, type ConfigContent, type Installation } from '@svc/client';
import type { ReactNode } from 'react';
import { saveConfig } from '../../data/config.ts';
import { Changes } from '../../ui/changes.tsx';
import { Notice } from '../../ui/notice.tsx';
import { toast } from '../../ui/toast.tsx';
import { useCaller } from '../people/who.tsx';
import { installationQuery } from './queries.ts';

/** What somebody else changed between the config that was looked at and the one in force. */
export interface Meanwhile {
  from: Config;
  to: Config;
}

const isCollision = (error: Error | null): boolean =>
  error instanceof SvcError && error.code === 'config-changed';

/** Puts a config in force in place of `base`. Where another is in force by now, nothing is saved, and `onCollision` has it. */
export function useSaving(
  { project, installation }: { project: string; installation: Installation },
  on: { said: string; onDone: () => void; onCollision: (current: Config) => void },
) {
  const client = useQueryClient();
  const { error, ...saving } = useMutation({
    mutationFn: ({ base, content }: { base: Config; content: ConfigContent }) =>
      saveConfig(project, installation, base, content),
    onSuccess: async ({ warnings = [] }) => {
      toast(warnings[0]?.message ?? on.said);
      on.onDone();
      await client.invalidateQueries({ queryKey: [project, 'installations'] });
    },
    onError: async (refusal) => {
      if (!isCollision(refusal)) return;
      const query = { ...installationQuery(project, installation.id), staleTime: 0 };
      on.onCollision((await client.fetchQuery(query)).config);
    },
  });
  return { ...saving, refused: isCollision(error) ? null : error };
}

/** Who saved another config meanwhile, and what they changed. */
export function Collision({ from, to, children }: Meanwhile & { children: ReactNode }): ReactNode {
  const who = useCaller(to.createdBy);
  return (
    <div className="stack" role="status">
      <Notice tone="warning" title={`${who} saved another config meanwhile.`}>
        {children}
      </Notice>
      <div>
        <p className="strong">What they changed</p>
        <Changes before={from.content} after={to.content} />
      </div>
    </div>
  );
}
