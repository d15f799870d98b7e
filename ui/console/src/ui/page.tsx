import { useEffect, type ReactNode } from 'react';

/** The head of a page and what is under it. The title is that of the window, too. */
export function Page(props: {
  title: string;
  /** Beside the title: a badge, an id. */
  beside?: ReactNode;
  about?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
}): ReactNode {
  useEffect(() => {
    document.title = `${props.title} · svc`;
  }, [props.title]);
  return (
    <>
      <header className="page-head">
        <div className="page-title">
          <h1>{props.title}</h1>
          {props.beside}
        </div>
        {props.actions && <div className="page-actions">{props.actions}</div>}
        {props.about && <p className="page-about">{props.about}</p>}
      </header>
      {props.children}
    </>
  );
}

/** A part of a page, with a title of its own. */
export function Section(props: { title: string; beside?: ReactNode; children: ReactNode }): ReactNode {
  return (
    <section className="section">
      <header className="section-head">
        <h2>{props.title}</h2>
        {props.beside}
      </header>
      {props.children}
    </section>
  );
}

/** Names and values, side by side. What is not there is left out. */
export function Facts({ of }: { of: readonly (readonly [string, ReactNode])[] }): ReactNode {
  return (
    <dl className="facts">
      {of
        .filter(([, value]) => value !== undefined && value !== null && value !== '')
        .map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}

/** Grey lines in the place of what is being loaded. */
export function Loading({ lines = 4 }: { lines?: number }): ReactNode {
  return (
    <div className="loading" role="status" aria-label="Loading">
      {Array.from({ length: lines }, (_, index) => (
        <span key={index} />
      ))}
    </div>
  );
}
