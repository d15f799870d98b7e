import * as ak from '@ariakit/react';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Search as SearchIcon } from 'lucide-react';
import type { SearchHit } from '@svc/client';
import { useEffect, useState, type ReactNode } from 'react';
import { answer, api } from '../data/api.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Problem } from '../ui/problem.tsx';
import { places } from './places.ts';

/** Finds anything of the project by its id or name; Ctrl+K opens it. */
export function Search({ project }: { project: string }): ReactNode {
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    const open = (event: KeyboardEvent): void => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      setOpen(true);
    };
    document.addEventListener('keydown', open);
    return () => document.removeEventListener('keydown', open);
  }, []);
  return (
    <>
      <Button
        className="search-button"
        icon={<SearchIcon size={15} aria-hidden />}
        onClick={() => setOpen(true)}
      >
        Search <kbd>Ctrl K</kbd>
      </Button>
      <Dialog title="Search" isOpen={isOpen} onClose={() => setOpen(false)}>
        <Hits project={project} onGone={() => setOpen(false)} />
      </Dialog>
    </>
  );
}

function Hits({ project, onGone }: { project: string; onGone: () => void }): ReactNode {
  const [text, setText] = useState('');
  const navigate = useNavigate();
  const asked = useLater(text.trim());
  const { data, error } = useQuery({
    queryKey: [project, 'search', asked],
    queryFn: () =>
      answer(
        api.GET('/v1/projects/{projectIdOrName}/search', {
          params: { path: { projectIdOrName: project }, query: { q: asked } },
        }),
      ),
    enabled: asked !== '',
    placeholderData: keepPreviousData,
  });
  const hits = (asked && data?.hits) || [];
  const go = (hit: SearchHit): void => {
    onGone();
    const [, path] = places[hit.type];
    void navigate({ href: `/projects/${encodeURIComponent(project)}/${path(hit)}` });
  };
  return (
    <ak.ComboboxProvider value={text} setValue={setText} includesBaseElement={false} open>
      <ak.Combobox
        className="input"
        placeholder="An id, a group, a record id, a name"
        aria-label="What to look for"
        autoSelect="always"
        autoFocus
      />
      {error && <Problem error={error} />}
      <ak.ComboboxList className="search-hits" aria-label="What was found" alwaysVisible>
        {hits.map((hit) => (
          <ak.ComboboxItem
            key={`${hit.type} ${hit.id}`}
            className="popover-item"
            hideOnClick={false}
            setValueOnClick={false}
            onClick={() => go(hit)}
          >
            <span className="search-name">{hit.name ?? hit.id}</span>
            <span className="muted small">
              {[places[hit.type][0], hit.groupRef].filter(Boolean).join(' · ')}
            </span>
          </ak.ComboboxItem>
        ))}
      </ak.ComboboxList>
      <p className="muted small" role="status">
        {asked && data && hits.length === 0
          ? 'Nothing is called so. An id is found whole, also in a text around it, or by how it begins, not by its end.'
          : ''}
      </p>
    </ak.ComboboxProvider>
  );
}

/** The value once it has stood for a moment. */
function useLater(value: string): string {
  const [later, setLater] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setLater(value), 200);
    return () => clearTimeout(timer);
  }, [value]);
  return later;
}
