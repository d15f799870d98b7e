import * as ak from '@ariakit/react';
import type { ReactNode } from 'react';

/** Parts of a page of which one is shown; which one belongs into the address, so the page holds it. The first instead of one that there is not. */
export function Tabs(props: {
  label: string;
  chosen: string;
  onChoose: (id: string) => void;
  tabs: readonly { id: string; title: string; count?: number; content: ReactNode }[];
}): ReactNode {
  const { label, chosen, onChoose, tabs } = props;
  const shown = tabs.some(({ id }) => id === chosen) ? chosen : tabs[0]?.id;
  return (
    <ak.TabProvider selectedId={shown} setSelectedId={(id) => id && onChoose(id)}>
      <ak.TabList aria-label={label} className="tabs">
        {tabs.map(({ id, title, count }) => (
          <ak.Tab key={id} id={id} className="tab">
            {title}
            {count !== undefined && <span className="tab-count">{count}</span>}
          </ak.Tab>
        ))}
      </ak.TabList>
      {tabs.map(({ id, content }) => (
        // By what is chosen, which may stay as it is: another one is shown for a moment before the page refuses it.
        <ak.TabPanel key={id} tabId={id} focusable={false}>
          {id === shown && content}
        </ak.TabPanel>
      ))}
    </ak.TabProvider>
  );
}
