import type { Config, ConfigContent, Installation } from '@svc/client';
import { useState, type ReactNode } from 'react';
import { changesBetween, merge, pathOf, type Change } from '../data/leaves.ts';
import { Collision, useSaving, type Meanwhile } from '../pages/installations/saving.tsx';
import { ChangeList } from '../ui/changes.tsx';
import { Form } from '../ui/form.tsx';
import { Notice } from '../ui/notice.tsx';
import { Section } from '../ui/page.tsx';
import { Tabs } from '../ui/tabs.tsx';
import { useUnsaved } from '../ui/unsaved.ts';
import { ConfigFields } from './config-fields.tsx';
import { ConfigText } from './config-text.tsx';

interface Given {
  project: string;
  installation: Installation;
  onClose: () => void;
}

interface Collided extends Meanwhile {
  /** What both changed; it stands in the form as it was changed here. */
  both: readonly Change[];
}

/** Changes a config in fields or as JSON. What somebody else saves meanwhile is told, and stays where only they changed it. */
export function InstallationConfig(given: Given): ReactNode {
  const { project, installation, onClose } = given;
  const [base, setBase] = useState<Config>(installation.config);
  const [content, setContent] = useState<ConfigContent>(base.content);
  const [meanwhile, setMeanwhile] = useState<Collided>();
  const [look, setLook] = useState('fields');
  const [fault, setFault] = useFaults();
  const onCollision = (current: Config): void => {
    const { merged, both } = merge(base.content, content, current.content);
    setMeanwhile({ from: base, to: current, both });
    setContent(merged);
    setBase(current);
  };
  const on = { said: 'The config is saved', onDone: onClose, onCollision };
  const { mutate, refused, isPending } = useSaving(given, on);
  const changed = changesBetween(base.content, content);
  // What a colleague's config kept from being saved is still only here.
  useUnsaved(meanwhile !== undefined && changed.length > 0 && !isPending);
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
        {meanwhile && <Merged {...meanwhile} />}
        <Tabs
          label="How it is changed"
          chosen={look}
          onChoose={(next) => fault === undefined && setLook(next)}
          tabs={[
            {
              id: 'fields',
              title: 'Fields',
              content: <ConfigFields {...{ project, content, setContent, setFault, error: refused }} />,
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

/** What is wrong with what was typed, by where it was: the first of it. */
function useFaults(): [fault: string | undefined, set: (at: string, said: string | undefined) => void] {
  const [faults, setFaults] = useState<Readonly<Record<string, string | undefined>>>({});
  const set = (at: string, said: string | undefined): void => setFaults((now) => ({ ...now, [at]: said }));
  return [Object.values(faults).find((one) => one !== undefined), set];
}

/** The paths of the issues that stand at the fields of `config-fields.tsx`. */
const shownPaths = ({ read }: ConfigContent): string[] =>
  Object.keys(read?.objects ?? {}).flatMap((name) =>
    ['schedule', 'destination', 'selectedFields', 'selectedFieldMappings'].map(
      (member) => `config.content.read.objects.${name}.${member}`,
    ),
  );

function Merged({ both, ...meanwhile }: Collided): ReactNode {
  return (
    <>
      <Collision {...meanwhile}>
        Nothing of yours is saved yet. Yours now stands on top of theirs: look at it, and save again.
      </Collision>
      {both.length > 0 && (
        <Notice
          tone="bad"
          title={`You both changed ${both.map(({ key }) => pathOf(key).join(' › ')).join(', ')}.`}
        >
          Saving replaces theirs there by yours. To leave theirs, type it in again.
        </Notice>
      )}
    </>
  );
}
