import { useParams } from '@tanstack/react-router';

/** The project that the address names. */
export function useProject(): string {
  const { project } = useParams({ strict: false });
  if (project === undefined) throw new Error('this page stands outside of a project');
  return project;
}
