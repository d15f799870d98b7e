import type { ReactNode } from 'react';

/** How much of something is done; of an unknown whole, without `of`. */
export function Progress(props: { label: string; done: number; of?: number | undefined }): ReactNode {
  const { label, done, of } = props;
  return (
    <progress
      className="progress"
      aria-label={label}
      {...(of === undefined || of === 0 ? {} : { max: of, value: Math.min(done, of) })}
    />
  );
}
