import { useMutation, useQueryClient, type UseMutationResult } from '@tanstack/react-query';
import { toast } from '../ui/toast.tsx';

/**
 * Something that changes a project: when it is done, what is shown of these nouns is read again, and a word says so.
 *
 * @example
 * const remove = useAct({ project, nouns: ['api-keys'], said: 'Deleted', act: (id: string) => answer(api.DELETE(…)) });
 */
export function useAct<Given = void, Answer = unknown>(of: {
  project: string;
  nouns: readonly string[];
  said?: string;
  act: (given: Given) => Promise<Answer>;
  onDone?: (answer: Answer, given: Given) => void;
}): UseMutationResult<Answer, Error, Given> {
  const client = useQueryClient();
  const { project, nouns, said, act, onDone } = of;
  return useMutation({
    mutationFn: act,
    onSuccess: (answer, given) => {
      for (const noun of [...nouns, 'audit-log'])
        void client.invalidateQueries({ queryKey: [project, noun] });
      if (said) toast(said);
      onDone?.(answer, given);
    },
  });
}
