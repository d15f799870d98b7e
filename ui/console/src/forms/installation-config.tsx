import { useMutation, useQueryClient } from '@tanstack/react-query';
import { SvcError, type Config, type ConfigContent, type Installation } from '@svc/client';
import { useState, type ReactNode } from 'react';
import { saveConfig } from '../data/config.ts';
import { changesBetween, merge, pathOf, type Change } from '../data/leaves.ts';
import { installationQuery } from '../pages/installations/queries.ts';
import { useCaller } from '../pages/people/who.tsx';
import { ChangeList, Changes } from '../ui/changes.tsx';
import { Form } from '../ui/form.tsx';
import { Notice } from '../ui/notice.tsx';
import { Section } from '../ui/page.tsx';
import { Tabs } from '../ui/tabs.tsx';
import { toast } from '../ui/toast.tsx';
import { ConfigFields } from './config-fields.tsx';
import { ConfigText } from './config-text.tsx';

interface Given {
  project: string;
  installation: Installation;
  onClose: () => void;
}

/** What somebody else changed while this form was open. */
interface Meanwhile {
  from: Config;
  to: Config;
  /** What both changed; it stands in the form as it was changed here. */
  both: readonly Change[];
}

/** Changes a config in fields or as JSON. What somebody else saves meanwhile is told, and stays where only they changed it. */
export function InstallationConfig(given: Given): ReactNode {
  const { project, installation, onClose } = given;
  const [base, setBase] = useState<Config>(installation.config);
  const [content, setContent] = useState<ConfigContent>(base.content);
  const [meanwhile, setMeanwhile] = useState<Meanwhile>();
  const [look, setLook] = useState('fields');
  const [fault, setFault] = useState<string>();
  const onCollision = (current: Config): void => {
    const { merged, both } = merge(base.content, content, current.content);
    setMeanwhile({ from: base, to: current, both });
    setContent(merged);
    setBase(current);
  };
  const { mutate, error, isPending } = useSaving(given, onCollision);
  const changed = changesBetween(base.content, content);
  const refused = error instanceof SvcError && error.code === 'config-changed' ? null : error;
  return (
    <Section title="Change the config">
      <Form
        submit="Save"
        isBusy={isPending}
        error={refused}
        fields={look === 'fields' ? shownPaths(content) : []}
        disabledFor={fault ?? (changed.length === 0 ? 'Nothing is changed yet' : undefined)}
        onSubmit={() => mutate({ base, content })}
        onCancel={onClose}
      >
        {meanwhile && <Collision {...meanwhile} />}
        <Tabs
          label="How it is changed"
          chosen={look}
          onChoose={(next) => fault === undefined && setLook(next)}
          tabs={[
            {
              id: 'fields',
              title: 'Fields',
              content: <ConfigFields {...{ project, content, setContent, error: refused }} />,
            },
            {
              id: 'json',
              title: 'JSON',
              content: <ConfigText key={base.id} {...{ content, setContent, fault, setFault }} />,
            },
          ]}
        />
        {changed.length > 0 && (
          <Section title="What is changed by saving">
            <ChangeList changes={changed} />
          </Section>
        )}
      </Form>
    </Section>
  );
}

function useSaving({ project, installation, onClose }: Given, onCollision: (current: Config) => void) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ base, content }: { base: Config; content: ConfigContent }) =>
      saveConfig(project, installation, base, content),
    onSuccess: async ({ warnings = [] }) => {
      toast(warnings[0]?.message ?? 'The config is saved');
      onClose();
      await client.invalidateQueries({ queryKey: [project, 'installations'] });
    },
    onError: async (error) => {
      if (!(error instanceof SvcError) || error.code !== 'config-changed') return;
      const query = { ...installationQuery(project, installation.id), staleTime: 0 };
      onCollision((await client.fetchQuery(query)).config);
    },
  });
}

/** The paths of the issues that stand at the fields of `config-fields.tsx`. */
const shownPaths = ({ read }: ConfigContent): string[] =>
  Object.keys(read?.objects ?? {}).flatMap((name) =>
    ['schedule', 'destination', 'selectedFields', 'selectedFieldMappings'].map(
      (member) => `config.content.read.objects.${name}.${member}`,
    ),
  );

function Collision({ from, to, both }: Meanwhile): ReactNode {
  return (
    <div className="stack" role="status">
      <Notice tone="warning" title={`${useCaller(to.createdBy)} saved another config meanwhile.`}>
        Nothing of yours is saved yet. Yours now stands on top of theirs: look at it, and save again.
      </Notice>
      <div>
        <p className="strong">What they changed</p>
        <Changes before={from.content} after={to.content} />
      </div>
      {both.length > 0 && (
        <Notice
          tone="bad"
          title={`You both changed ${both.map(({ key }) => pathOf(key).join(' › ')).join(', ')}.`}
        >
          Saving replaces theirs there by yours. To leave theirs, type it in again.
        </Notice>
      )}
    </div>
  );
}
